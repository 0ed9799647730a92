/* Lets the search of a site work that is read from the disk: browsers start no worker there, so a hidden frame does its work. */

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => {
        const said = new MessageEvent("message", { data });
        this.dispatchEvent(said);
        if (this.onmessage) this.onmessage(said);
      };
      const script = this.frame.contentDocument.createElement("script");
      script.src = String(address);
      script.addEventListener("load", () => {
        this.ready = true;
        for (const data of this.waiting.splice(0)) this.postMessage(data);
      });
      this.frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      if (this.ready) this.frame.contentWindow.onmessage(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
