// Reads {device, lives, wrong} from standard input; writes what device.js makes of lives with a memory, and its refusals.
import { readFileSync } from "node:fs";

const { device, lives, wrong } = JSON.parse(readFileSync(0, "utf8"));
const source = readFileSync(device).toString("base64");
const { Client, Memory } = await import(`data:text/javascript;base64,${source}`);
const hex = octets => (octets === null ? null : Buffer.from(octets).toString("hex"));

/** One device: every value after the memory was read back from its text. */
function lived({ published, values, octets }) {
  const bytes = Buffer.from(octets, "hex");
  let taken = 0;
  const draw = count => Uint8Array.from(bytes.subarray(taken, (taken += count)));
  const client = Client.read(published);
  let saved = new Memory().text;
  let saves = 0;
  const sent = values.map(value => {
    const memory = Memory.read(saved, text => ((saved = text), saves++));
    return hex(client.randomize(value, draw, memory));
  });
  return { sent, saved, saves, taken };
}

function refusal({ published, values, memory }) {
  try {
    const read = Memory.read(memory);
    for (const value of values) Client.read(published).randomize(value, count => new Uint8Array(count), read);
    return null;
  } catch (error) {
    return error.message;
  }
}

process.stdout.write(JSON.stringify({ lived: lives.map(lived), refusals: wrong.map(refusal) }));
