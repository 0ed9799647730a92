// Reads {device, vectors, wrong, texts} from standard input; writes what device.js makes of them.
import { readFileSync } from "node:fs";

const { device, vectors, wrong, texts } = JSON.parse(readFileSync(0, "utf8"));
const source = readFileSync(device).toString("base64"); // as data: a lone .js file is no module for node
const { Client, message, textBucket } = await import(`data:text/javascript;base64,${source}`);

function made(one) {
  const octets = Buffer.from(one.octets, "hex");
  let taken = 0;
  const draw = count => {
    if (taken + count > octets.length) throw new Error("takes more bytes than the vector has");
    taken += count;
    return Uint8Array.from(octets.subarray(taken - count, taken));
  };
  const sent = one.recipe
    ? message(one.recipe, one.place, draw)
    : Client.read(one.published).randomize(one.value, draw);
  return { message: Buffer.from(sent).toString("hex"), taken };
}

function refusal(one) {
  try {
    Client.read(one.published).randomize(one.value, count => new Uint8Array(count));
    return null;
  } catch (error) {
    return error.message;
  }
}

process.stdout.write(
  JSON.stringify({
    made: vectors.map(made),
    refusals: wrong.map(refusal),
    buckets: texts.map(({ key, row, text, buckets }) => textBucket(key, row, text, buckets)),
  }),
);
