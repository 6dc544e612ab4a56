internal import Support
internal import Synchronization

/// The context of a message in a trace: the value of the attribute `traceparent`, see
/// https://www.w3.org/TR/trace-context/.
///
/// Each message is a span; the parent of the span is the message that caused it. A message is in the trace of its cause
/// if the cause has a readable context.
public struct TraceContext: Hashable, Sendable {
    /// The trace id, 16 bytes. It is never zero.
    private let trace: Pair
    /// The span id of this message. It is never zero.
    private let span: UInt64

    private struct Pair: Hashable {
        let high: UInt64
        let low: UInt64
    }

    /// Creates the context of a message without a cause.
    public init() {
        let number = RandomBits.nextNumber()
        trace = Pair(high: RandomBits.high.bits(number), low: RandomBits.low.bits(number))
        span = RandomBits.span.bits(number)
    }

    /// Creates a context for a message whose cause has no readable context.
    /// - Parameter story: The message's ``Attributes/correlationID``. The trace id is derived from it.
    public init(story: String) {
        trace = Pair(high: Self.hash(1, story), low: Self.hash(2, story))
        span = RandomBits.span.bits(RandomBits.nextNumber())
    }

    private init(trace: Pair, span: UInt64) {
        self.trace = trace
        self.span = span
    }

    /// The context of a message that this one caused: a new span of the same trace.
    public var next: TraceContext {
        TraceContext(trace: trace, span: RandomBits.span.bits(RandomBits.nextNumber()))
    }

    private static func hash(_ half: UInt8, _ story: String) -> UInt64 {
        var hash = FNV1a()
        hash.combine(CollectionOfOne(half))
        hash.combine(story.utf8)
        return hash.value.nonzero
    }
}

// MARK: As text

extension TraceContext {
    private static let length = 55

    /// Reads a `traceparent`, including one of a later version of the specification.
    /// - Returns: Nil if the specification calls the value invalid.
    public init?(parsing text: String) {
        var text = text
        guard let context = text.withUTF8(Self.init(utf8:)) else { return nil }
        self = context
    }

    private init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        let dash = UInt8(ascii: "-")
        guard text.count >= Self.length, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = text.hexadecimal(0..<2), version < 0xff, text.hexadecimal(53..<55) != nil,
            // A later version may append fields.
            text.count == Self.length || version > 0 && text[Self.length] == dash,
            let high = text.hexadecimal(3..<19), let low = text.hexadecimal(19..<35), high != 0 || low != 0,
            let span = text.hexadecimal(36..<52), span != 0
        else { return nil }
        self.init(trace: Pair(high: high, low: low), span: span)
    }

    /// The value of `traceparent`: version 00, with the flag "sampled".
    public var text: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            _ = buffer.initialize(from: "00-00000000000000000000000000000000-0000000000000000-01".utf8)
            buffer.putHexadecimal(trace.high, at: 3)
            buffer.putHexadecimal(trace.low, at: 19)
            buffer.putHexadecimal(span, at: 36)
            return Self.length
        }
    }

    /// The trace id as other tools show it: 32 hexadecimal digits.
    public var traceID: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            _ = buffer.initialize(from: repeatElement(UInt8(ascii: "0"), count: 32))
            buffer.putHexadecimal(trace.high, at: 0)
            buffer.putHexadecimal(trace.low, at: 16)
            return 32
        }
    }
}

/// A source of random bits: a random seed and a counter, mixed as in SplitMix64, https://prng.di.unimi.it/splitmix64.c.
private struct RandomBits {
    static let high = RandomBits()
    static let low = RandomBits()
    static let span = RandomBits()
    private static let count = Atomic<UInt64>(0)

    private let seed = UInt64.random(in: .min ... .max)

    static func nextNumber() -> UInt64 {
        count.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The bits for a number of the counter. They are never zero.
    func bits(_ number: UInt64) -> UInt64 {
        var bits = seed &+ number &* 0x9e37_79b9_7f4a_7c15
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return (bits ^ (bits >> 31)).nonzero
    }
}

extension UInt64 {
    fileprivate var nonzero: UInt64 { self == 0 ? 1 : self }
}

extension UnsafeMutableBufferPointer<UInt8> {
    fileprivate func putHexadecimal(_ number: UInt64, at index: Int) {
        for place in 0..<16 {
            self[index + place] = UInt8(truncatingIfNeeded: number >> UInt64(60 - place * 4)).hexadecimalDigit
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The number in a range of digits; nil if one is not a hexadecimal digit. Only lower case is accepted, as the
    /// specification demands.
    fileprivate func hexadecimal(_ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for byte in self[range] {
            guard let digit = UInt8(hexadecimalDigit: byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
