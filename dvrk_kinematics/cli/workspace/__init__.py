"""Pictures of where a tool is dexterous and where a figure fits best."""
