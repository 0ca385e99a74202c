// Opened from disk, a browser starts no worker from a file, and search needs one: let a hidden frame do its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.waiting = [];
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow;
        const script = inside.document.createElement("script");
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = () => undefined; // words of other languages than English
        script.src = address;
        script.onload = () => {
          this.frame = inside;
          this.waiting.forEach((data) => this.postMessage(data));
        };
        inside.document.head.append(script);
      }, { once: true });
      document.documentElement.append(frame);
    }
    postMessage(data) {
      if (this.frame) this.frame.dispatchEvent(new this.frame.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
    terminate() {}
  };
}
