/* Lets the search of a site work that is read from the disk: browsers start no worker there, so a hidden frame does its work. */

if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => {
        const said = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => this.onmessage?.(said)); // later, as messages of a worker are
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
      const inside = this.frame.contentWindow;
      const said = new MessageEvent("message", { data: inside.structuredClone(data) });
      if (this.ready) setTimeout(() => inside.onmessage(said));
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
