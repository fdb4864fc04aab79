// Exact rationals over BigInt: the page adds and multiplies what the engine wrote down, and never rounds.

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

export class Rational {
  constructor(top, bottom = 1n) {
    const common = gcd(top, bottom) || 1n;
    this.top = top / common;
    this.bottom = bottom / common;
  }
  static read(text) {
    const [top, bottom = "1"] = text.split("/");
    return new Rational(BigInt(top), BigInt(bottom));
  }
  plus(other) {
    return new Rational(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom);
  }
  minus(other) {
    return new Rational(this.top * other.bottom - other.top * this.bottom, this.bottom * other.bottom);
  }
  times(other) {
    return new Rational(this.top * other.top, this.bottom * other.bottom);
  }
  equals(other) {
    return this.top === other.top && this.bottom === other.bottom;
  }
  get isZero() {
    return this.top === 0n;
  }
  get absolute() {
    return this.top < 0n ? new Rational(-this.top, this.bottom) : this;
  }
  get half() {
    return new Rational(this.top, 2n * this.bottom);
  }
  get number() {
    // Shifted alike, so that parts beyond the range of floats keep their quotient.
    const excess = Math.max(this.top.toString(2).length, this.bottom.toString(2).length) - 1000;
    if (excess <= 0) return Number(this.top) / Number(this.bottom);
    return Number(this.top >> BigInt(excess)) / Number(this.bottom >> BigInt(excess));
  }
  toString() {
    return this.bottom === 1n ? `${this.top}` : `${this.top}/${this.bottom}`;
  }
}

export const ZERO = new Rational(0n);
export const ONE = new Rational(1n);
