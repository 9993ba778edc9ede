// Browsers refuse workers to pages that were opened from a folder. There the search runs in a frame instead: a Worker
// whose script shares the page's thread. Pages from a server are left alone.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "";
      const loaded = new Promise((done) => this.frame.addEventListener("load", done, { once: true }));
      document.body.append(this.frame);
      this.ready = loaded.then(() => {
        const inside = this.frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = (...addresses) =>
          addresses.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
        return this.load(address);
      });
    }

    // Runs a script inside; fulfilled when it has run.
    load(address) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = () => failed(new Error(`${address} cannot be loaded`));
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
