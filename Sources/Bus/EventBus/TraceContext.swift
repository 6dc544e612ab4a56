internal import Support
internal import Synchronization

/// The place of a message in a trace, as the attribute `traceparent` names it: https://www.w3.org/TR/trace-context/.
///
/// A story is a trace, and each of its messages is a span, whose parent is its cause.
public struct TraceContext: Hashable, Sendable {
    /// 16 bytes that all messages of a story share, and 8 of this message alone; neither is zero.
    private let trace: Pair
    private let span: UInt64

    private struct Pair: Hashable {
        let high: UInt64
        let low: UInt64
    }

    /// The context of a story's first message.
    public init() {
        let number = RandomBits.nextNumber()
        trace = Pair(high: RandomBits.high.bits(number), low: RandomBits.low.bits(number))
        span = RandomBits.span.bits(number)
    }

    /// A context of a story whose first message has none that can be read.
    /// - Parameter story: the id of its first message. The trace derives from it, so that all that answer the story agree.
    public init(story: String) {
        trace = Pair(high: Self.hash(1, story), low: Self.hash(2, story))
        span = RandomBits.span.bits(RandomBits.nextNumber())
    }

    private init(trace: Pair, span: UInt64) {
        self.trace = trace
        self.span = span
    }

    /// The context of a message that this one's message led to: another span of the same trace.
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

    /// Reads a `traceparent`, also one of a later version of the specification.
    /// - Returns: nil for what the specification calls invalid.
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

    /// The `traceparent`: of version 00, and sampled, for the journal records every message.
    public var text: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            _ = buffer.initialize(from: "00-00000000000000000000000000000000-0000000000000000-01".utf8)
            buffer.putHexadecimal(trace.high, at: 3)
            buffer.putHexadecimal(trace.low, at: 19)
            buffer.putHexadecimal(span, at: 36)
            return Self.length
        }
    }

    /// The trace as other tools show it: 32 hexadecimal digits.
    public var traceID: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            _ = buffer.initialize(from: repeatElement(UInt8(ascii: "0"), count: 32))
            buffer.putHexadecimal(trace.high, at: 0)
            buffer.putHexadecimal(trace.low, at: 16)
            return 32
        }
    }
}

/// Random bits, made without a system call: a count that begins anywhere, mixed as in SplitMix64,
/// https://prng.di.unimi.it/splitmix64.c.
private struct RandomBits {
    static let high = RandomBits()
    static let low = RandomBits()
    static let span = RandomBits()
    private static let count = Atomic<UInt64>(0)

    private let seed = UInt64.random(in: .min ... .max)

    static func nextNumber() -> UInt64 {
        count.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Never zero.
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
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - place * 4)) & 0xf
            self[index + place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// In lower case only, as the specification demands.
    fileprivate func hexadecimal(_ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for byte in self[range] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
