// What runs on the device: turns one value into one report. The twin of the folder it lies in: from the same random bytes, the same
// message to the byte.
//
// A module without dependencies, for browsers and for node (there: name it device.mjs, or say "type": "module"):
//
//     import { Client } from "./device.js";
//     const client = Client.read(published);                        // the text of protocol.publish()
//     const message = client.randomize("blue", n => crypto.getRandomValues(new Uint8Array(n)));
//
// Randomness comes from the function that is given, and from nowhere else: a count of bytes to a Uint8Array of so many.
// All chances are whole numbers over 2^53, compared as whole numbers, so that every coin is exactly as likely as stated.
// A new kind of recipe is one more line in KINDS: (recipe, place, coins) => [number, bits], both BigInt.

export const FORMAT = 1;
const BITS = 53;
const HEAD = 5;

const ones = count => (1n << BigInt(count)) - 1n;
const bitLength = number => (number === 0n ? 0 : number.toString(2).length);
const numberSize = cells => (bitLength(BigInt(cells) - 1n) + 7) >> 3;

/** Coins made of random bytes, taken in the same order as the Python twin takes them. */
export class OctetCoins {
  constructor(octets) {
    if (typeof octets !== "function") throw new TypeError("octets must be a function: a count to so many random bytes");
    this.octets = octets;
  }

  /** So many random bytes as a whole number, little end first. */
  draw(size) {
    const drawn = this.octets(size);
    if (!(drawn instanceof Uint8Array) || drawn.length !== size) {
      throw new TypeError("octets must give a Uint8Array of as many bytes as it is asked for");
    }
    let text = "";
    for (let place = size - 1; place >= 0; place--) text += drawn[place].toString(16).padStart(2, "0");
    return BigInt("0x0" + text);
  }

  /** True with probability weight / 2^53. */
  chance(weight) {
    return this.draw(7) >> 3n < BigInt(weight);
  }

  /** A uniform whole number in 0 … bound − 1: bits are drawn until they are below the bound. */
  below(bound) {
    const limit = BigInt(bound);
    const width = bitLength(limit - 1n);
    const size = (width + 7) >> 3;
    for (;;) {
      const drawn = this.draw(size) >> BigInt(size * 8 - width);
      if (drawn < limit) return drawn;
    }
  }

  /** Independent coins, each true with probability weight / 2^53, as the bits of a whole number. */
  many(count, weight) {
    const size = (count + 7) >> 3;
    const chance = BigInt(weight);
    let heads = 0n;
    let open = ones(count);
    for (let plane = BITS - 1; plane >= 0; plane--) {
      if (open === 0n || (chance & ones(plane + 1)) === 0n) break;
      const drawn = this.draw(size);
      if ((chance >> BigInt(plane)) & 1n) {
        heads |= open & ~drawn;
        open &= drawn;
      } else {
        open &= ~drawn;
      }
    }
    return heads;
  }
}

function response(recipe, place, coins) {
  return [coins.chance(recipe.truth) ? BigInt(place) : coins.below(recipe.cells), 0n];
}

function bits(recipe, place, coins) {
  const own = 1n << BigInt(place);
  const drawn = coins.many(recipe.bits, recipe.lie) & ~own;
  return [0n, coins.chance(recipe.truth) ? drawn | own : drawn];
}

/** Sums and products of a finite field of a prime power, row by row; the same tables as the Python twin makes. */
function fieldTables(prime, polynomial) {
  let order = 1;
  while (order * prime <= polynomial) order *= prime;
  const places = [];
  for (let place = 1; place < order; place *= prime) places.push(place);
  const digits = rule => places.reduce((total, place) => total + (rule(place) % prime) * place, 0);
  const plus = (one, two) => digits(place => Math.floor(one / place) + Math.floor(two / place));
  const scaled = (one, by) => digits(place => Math.floor(one / place) * by);
  const minus = scaled(polynomial % order, prime - 1);
  const sums = [];
  const products = [];
  for (let left = 0; left < order; left++) {
    const row = [0];
    for (let right = 1; right < order; right++) {
      const moved = row[Math.floor(right / prime)] * prime;
      const folded = plus(moved % order, scaled(minus, Math.floor(moved / order)));
      row.push(plus(folded, scaled(left, right % prime)));
    }
    products.push(...row);
    for (let right = 0; right < order; right++) sums.push(plus(left, right));
  }
  return [sums, products];
}

/** The inner product of two rows of digits over the field of a recipe. */
function inner(recipe, left, right) {
  const order = BigInt(recipe.order);
  const [sums, products] = recipe.order === recipe.prime ? [] : fieldTables(recipe.prime, recipe.polynomial);
  let total = 0n;
  for (; right > 0n; left /= order, right /= order) {
    const [one, two] = [left % order, right % order];
    total = sums ? BigInt(sums[Number(total * order) + products[Number(one * order + two)]]) : total + one * two;
  }
  return total % order;
}

/** The code of a value, whose digits are a 1 and any lower ones. */
function point(order, place) {
  let block = 1n;
  for (; place >= block; block *= order) place -= block;
  return place + block;
}

function hashed(recipe, place, coins) {
  const order = BigInt(recipe.order);
  const seed = coins.below(BigInt(recipe.cells) / order);
  const told = coins.chance(recipe.truth);
  return [seed * order + (told ? inner(recipe, seed, point(order, BigInt(place))) : coins.below(order)), 0n];
}

function oneOf(recipe, values, coins) {
  let drawn = coins.below(recipe.weights.reduce((total, weight) => total + weight, 0));
  let first = 0n;
  for (let at = 0; at < recipe.parts.length; at++) {
    const weight = BigInt(recipe.weights[at]);
    if (drawn < weight) {
      const [number, bits] = draw(recipe.parts[at], values[at], coins);
      return [first + number, bits];
    }
    drawn -= weight;
    first += BigInt(recipe.parts[at].cells);
  }
  throw new Error("the number drawn is below the sum of the weights");
}

/** How many bits of a whole number are 1. */
const bitCount = word => word.toString(2).replaceAll("0", "").length;

/** The set bit that so many lower ones are set below. */
function setBit(word, rank) {
  const digits = word.toString(2);
  let left = Number(rank);
  for (let at = digits.length - 1; ; at--) {
    if (digits[at] === "1" && left-- === 0) return 1n << BigInt(digits.length - 1 - at);
  }
}

function subset(recipe, place, coins) {
  const own = 1n << BigInt(place);
  const others = ones(recipe.bits) ^ own;
  const told = coins.chance(recipe.truth);
  const wanted = recipe.ones - (told ? 1 : 0);
  const near = ((BigInt(recipe.ones) << 8n) / BigInt(recipe.bits)) << BigInt(BITS - 8);
  let drawn = coins.many(recipe.bits, near) & others;
  for (let count = bitCount(drawn); count !== wanted; count += count > wanted ? -1 : 1) {
    const open = count > wanted ? drawn : others ^ drawn;
    drawn ^= setBit(open, coins.below(bitCount(open)));
  }
  return [0n, told ? drawn | own : drawn];
}

/** The place of a point: `point` the other way round. */
function placeOf(order, code) {
  let place = 0n;
  let block = 1n;
  for (; code >= block * order; block *= order) place += block;
  return place + code - block;
}

/** A point whose entry at the place of the value is the inner product of its later ones with the value's code, or not. */
function plane(recipe, place, coins) {
  const order = BigInt(recipe.order);
  const cells = BigInt(recipe.cells);
  const code = point(order, BigInt(place));
  const inside = (cells - 1n) / order;
  const outside = cells - inside;
  let below = outside; // the weight of the entry at the place of the value
  for (let rest = code / order; rest > 0n; rest /= order) below /= order;
  let [later, low, more] = [0n, 0n, 0n];
  if (coins.chance(recipe.truth)) {
    const drawn = point(order, coins.below(inside));
    [later, low] = [drawn / below, drawn % below];
  } else {
    const drawn = coins.below(outside);
    const rest = drawn / below;
    low = drawn % below;
    [later, more] = rest > 0n ? [point(order, (rest - 1n) / (order - 1n)), ((rest - 1n) % (order - 1n)) + 1n] : [0n, 1n];
  }
  const first = inner(recipe, later, code);
  const sums = recipe.order === recipe.prime ? null : fieldTables(recipe.prime, recipe.polynomial)[0];
  const entry = sums ? BigInt(sums[Number(first * order + more)]) : (first + more) % order;
  return [placeOf(order, low + below * (entry + order * later)), 0n];
}

function hadamard(recipe, place, coins) {
  const code = point(2n, BigInt(place));
  const drawn = coins.below(recipe.cells);
  const odd = coins.chance(recipe.truth) ? 0 : 1;
  if (bitCount(drawn & code) % 2 === odd) return [drawn, 0n];
  return [drawn ^ (1n << BigInt(bitLength(code) - 1)), 0n];
}

/** How a report is drawn, by the kind of recipe. */
export const KINDS = new Map([
  ["response", response],
  ["bits", bits],
  ["hashed", hashed],
  ["one of", oneOf],
  ["subset", subset],
  ["plane", plane],
  ["hadamard", hadamard],
]);

/** Which entry of a recipe says how many values there are, for kinds where one does. */
const OPTIONS = new Map([
  ["response", "cells"],
  ["bits", "bits"],
  ["subset", "bits"],
]);

/** Draws one report: its whole number and its bits. */
export function draw(recipe, place, coins) {
  const randomizer = KINDS.get(recipe.kind);
  if (randomizer === undefined) {
    const known = [...KINDS.keys()].sort().join(", ");
    throw new RangeError(`this device knows recipes of the kinds ${known}, not ${JSON.stringify(recipe.kind)}`);
  }
  return randomizer(recipe, place, coins);
}

/** The five bytes that every message of a recipe begins with. */
export function tag(recipe) {
  const digest = sha256(new TextEncoder().encode(canonical(recipe)));
  const first = new Uint8Array(HEAD);
  first[0] = FORMAT;
  first.set(digest.subarray(0, HEAD - 1), 1);
  return first;
}

/** Randomizes one value, given by its place, and writes the report as a message. */
export function message(recipe, place, octets) {
  return packed(recipe, tag(recipe), draw(recipe, place, new OctetCoins(octets)));
}

function packed(recipe, head, [number, drawn]) {
  const first = numberSize(recipe.cells);
  const written = new Uint8Array(HEAD + first + ((recipe.bits + 7) >> 3));
  written.set(head);
  writeLittle(number, written.subarray(HEAD, HEAD + first));
  writeLittle(drawn, written.subarray(HEAD + first));
  return written;
}

function writeLittle(number, room) {
  if (number < 0n || bitLength(number) > room.length * 8) throw new RangeError("a report does not fit its recipe");
  const text = number.toString(16).padStart(room.length * 2, "0");
  for (let place = 0; place < room.length; place++) {
    const end = text.length - 2 * place;
    room[place] = parseInt(text.slice(end - 2, end), 16);
  }
}

/** Reads what a protocol has published, once, and randomizes values by it. */
export class Client {
  /** Reads the text of `protocol.publish()`; refuses what this file cannot follow to the letter. */
  static read(text) {
    const stated = JSON.parse(text);
    if (stated === null || typeof stated !== "object" || stated.format !== FORMAT) {
      throw new RangeError(`this device reads format ${FORMAT} of what a protocol publishes, and no other`);
    }
    const { recipe, domain } = stated;
    if (recipe === null || typeof recipe !== "object" || !KINDS.has(recipe.kind)) {
      const known = [...KINDS.keys()].sort().join(", ");
      throw new RangeError(`this device knows recipes of the kinds ${known}, not ${JSON.stringify(recipe?.kind)}`);
    }
    const head = tag(recipe);
    if ([...head].map(octet => octet.toString(16).padStart(2, "0")).join("") !== stated.tag) {
      throw new RangeError("the tag is not that of the recipe: it was changed on its way, or misread");
    }
    return new Client(recipe, head, readerOf(domain, recipe));
  }

  constructor(recipe, head, reader) {
    this.recipe = recipe;
    this.head = head;
    this.reader = reader;
  }

  /** The message of one value; a value that is not listed stands as `other`, or is refused where there is none. */
  randomize(value, octets) {
    return packed(this.recipe, this.head, draw(this.recipe, this.reader(value), new OctetCoins(octets)));
  }
}

/** How values are read, by the entry of a published domain that says of which form it is. */
export const DOMAINS = new Map([
  ["range", rangeReader],
  ["values", valuesReader],
  ["each", eachReader],
  ["texts", textsReader],
]);

/** The reader of a published domain: a function of a value that gives what the randomizer takes, or refuses. */
export function readerOf(domain, recipe) {
  const forms = domain && typeof domain === "object" ? [...DOMAINS.keys()].filter(form => form in domain) : [];
  if (forms.length !== 1) {
    throw new RangeError("the protocol publishes no domain that this device knows: prepare its input and call message()");
  }
  return DOMAINS.get(forms[0])(domain, recipe);
}

function rangeReader(domain, recipe) {
  const [start, stop, step] = domain.range;
  const options = Math.max(0, Math.ceil((stop - start) / step));
  const find = value => {
    const place = Number.isSafeInteger(value) ? (value - start) / step : -1;
    return Number.isInteger(place) && place >= 0 && place < options ? place : undefined;
  };
  return listed(find, options, domain, recipe);
}

function valuesReader(domain, recipe) {
  const places = new Map(domain.values.map((value, place) => [value, place]));
  return listed(value => places.get(value), domain.values.length, domain, recipe);
}

/** A list with one value of each of several domains, for the parts of a recipe. */
function eachReader(domain, recipe) {
  const readers = domain.each.map((own, at) => readerOf(own, recipe.parts[at]));
  return value => {
    if (!Array.isArray(value) || value.length !== readers.length) {
      throw new RangeError(`the value must be a list of ${readers.length}: one for each part`);
    }
    return value.map((own, at) => readers[at](own));
  };
}

/** Any text of at most so many letters. */
function textsReader(domain) {
  const { longest } = domain.texts;
  return value => {
    if (typeof value !== "string" || value.length > longest) {
      throw new RangeError(`the value must be a text of at most ${longest} letters`);
    }
    return value;
  };
}

/** The bucket, of a number that is a power of 2, into which function `row` of the family `key` puts a text. */
export function textBucket(key, row, text, buckets) {
  const digest = sha256(new TextEncoder().encode(canonical([key, row, text])));
  const low = new DataView(digest.buffer).getBigUint64(0, true);
  return Number(low & (BigInt(buckets) - 1n));
}

/** The place of a value; that of `other` for what is not listed, or a refusal where there is none. */
function listed(find, options, domain, recipe) {
  const stated = OPTIONS.get(recipe.kind);
  if (stated !== undefined && recipe[stated] !== options) {
    throw new RangeError("the list of values does not have the length that the recipe states");
  }
  const rest = domain.other === null || domain.other === undefined ? undefined : find(domain.other);
  return value => {
    const place = find(value) ?? rest;
    if (place === undefined) throw new RangeError("the value must be one of those that the protocol lists");
    return place;
  };
}

/** The text that is hashed: sorted keys, no blanks, nothing but ASCII, as Python's json writes it. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isInteger(value) || Math.abs(value) > 2 ** BITS) {
      throw new RangeError("a recipe holds texts and whole numbers up to 2^53");
    }
    return BigInt(value).toString();
  }
  if (typeof value === "string") {
    return JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      letter => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"),
    );
  }
  const names = Object.keys(value).sort();
  return `{${names.map(name => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** The first 32 bits behind the point of a root of a whole number: the constants of SHA-256 are of that form. */
function rootBits(prime, degree) {
  const power = BigInt(prime) << BigInt(32 * degree);
  let low = 0n;
  for (let step = 1n << 40n; step > 0n; step >>= 1n) {
    if ((low + step) ** BigInt(degree) <= power) low += step;
  }
  return Number(low & 0xffffffffn);
}

function primes(count) {
  const found = [];
  for (let tried = 2; found.length < count; tried++) if (found.every(prime => tried % prime)) found.push(tried);
  return found;
}

const ROUNDS = primes(64).map(prime => rootBits(prime, 3));
const BEGIN = primes(8).map(prime => rootBits(prime, 2));

/** SHA-256 (FIPS 180-4) of bytes. */
function sha256(octets) {
  const padded = new Uint8Array(((octets.length + 72) >> 6) << 6);
  padded.set(octets);
  padded[octets.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(octets.length / 2 ** 29));
  view.setUint32(padded.length - 4, (octets.length * 8) >>> 0);
  const turned = (word, by) => (word >>> by) | (word << (32 - by));
  const state = Uint32Array.from(BEGIN);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [late, early] = [words[i - 2], words[i - 15]];
      const left = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const right = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[i] = words[i - 16] + left + words[i - 7] + right;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const chosen = (e & f) ^ (~e & g);
      const most = (a & b) ^ (a & c) ^ (b & c);
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + ROUNDS[i] + words[i]) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}
