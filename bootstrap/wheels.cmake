# Given to every interface package as CMAKE_PROJECT_INCLUDE where ROS 2 comes from PyPI.
#
# The wheels' CMake exports name include folders of the machine they were built on, and CMake refuses to generate with a
# folder that does not exist. At the end of the top CMakeLists, when every find_package has run, this drops those folders
# from the imported targets. Where all folders exist, nothing changes.

function(dvrk_drop_missing_include_folders)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(folders "${target}" INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT folders)
      continue()
    endif()
    set(kept)
    foreach(folder IN LISTS folders)
      if(folder MATCHES "\\$<" OR EXISTS "${folder}")
        list(APPEND kept "${folder}")
      endif()
    endforeach()
    set_target_properties("${target}" PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL dvrk_drop_missing_include_folders)
