/* The search runs in a worker, which browsers refuse to pages that are opened from the disk.
   There, a hidden frame does the worker's work. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script src="${url}"></script>`;
      this.loaded = new Promise((resolve) => {
        this.frame.addEventListener("load", resolve);
      });
      document.body.append(this.frame);
    }

    async postMessage(data) {
      await this.loaded;
      const inside = this.frame.contentWindow;
      inside.postMessage = (answer) => {
        this.dispatchEvent(new MessageEvent("message", { data: answer }));
      };
      inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
