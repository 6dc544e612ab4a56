/// The whole numbers that Segue accepts from outside: those that every reader of JSON represents exactly (RFC 8259, 6).
///
/// Arithmetic with two of them, and a counter that continues at one of them, cannot overflow 64 bits.
package enum SafeIntegers {
    /// 2^53 - 1, `Number.MAX_SAFE_INTEGER` of JavaScript.
    package static let greatest: Int64 = (1 << 53) - 1
    package static let range = -greatest...greatest
    /// The range of numbers of things, of positions and of durations.
    package static let counts = 0...greatest

    /// The number in ``range`` that is nearest to `value`.
    package static func limit(_ value: some BinaryInteger) -> Int64 {
        min(max(Int64(clamping: value), range.lowerBound), range.upperBound)
    }
}

extension FixedWidthInteger {
    /// Reads a number of things, a position or a duration from outside, in decimal. Nil for any other text, and for a
    /// number out of ``SafeIntegers/counts``.
    package init?(count text: some StringProtocol) {
        guard let number = Int64(text), SafeIntegers.counts.contains(number) else { return nil }
        self.init(exactly: number)
    }
}

extension JSONValue {
    /// The number of things, position or duration. Nil if this is not a whole number in ``SafeIntegers/counts``.
    package var countValue: Int? {
        integerValue.flatMap { SafeIntegers.counts.contains(Int64($0)) ? $0 : nil }
    }
}

/// A whole number that has a limited range in JSON. A type that conforms is a property wrapper.
///
/// Decoding throws an error for a number out of range. A value that the program itself sets is not checked.
public protocol BoundedNumber: Codable, Hashable, Sendable {
    associatedtype Value: FixedWidthInteger & Codable & Sendable

    static var range: ClosedRange<Int64> { get }

    init(wrappedValue: Value)
    var wrappedValue: Value { get }
}

extension BoundedNumber {
    /// Decodes the number.
    /// - Throws: `DecodingError` if the number is out of range.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(Value.self)
        guard Int64(exactly: value).map(Self.range.contains) ?? false else {
            let message = "\(value) is not between \(Self.range.lowerBound) and \(Self.range.upperBound)"
            throw DecodingError.dataCorruptedError(in: container, debugDescription: message)
        }
        self.init(wrappedValue: value)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// A number of things, a position or a duration in a type that is decoded from outside: 0 to 2^53 - 1.
@propertyWrapper
public struct BoundedCount<Value: FixedWidthInteger & Codable & Sendable>: BoundedNumber {
    public static var range: ClosedRange<Int64> { SafeIntegers.counts }

    public var wrappedValue: Value

    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

/// A whole number that may be negative, in a type that is decoded from outside: at most 2^53 - 1 away from 0.
@propertyWrapper
public struct BoundedInteger<Value: FixedWidthInteger & Codable & Sendable>: BoundedNumber {
    public static var range: ClosedRange<Int64> { SafeIntegers.range }

    public var wrappedValue: Value

    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}
