internal import Support

/// A value that may be null or have another form. Then it is nil, and the values beside it remain.
struct Tolerant<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) {
        value = try? Value(from: decoder)
    }
}

extension Tolerant: Sendable where Value: Sendable {}

/// An integer that may be written as a fraction or a string. It is limited to `SafeIntegers`.
struct TolerantNumber: Decodable, Sendable {
    let value: Int?

    init(from decoder: any Decoder) {
        let container = try? decoder.singleValueContainer()
        let number: Int?
        if let integer = try? container?.decode(Int.self) {
            number = integer
        } else if let fraction = try? container?.decode(Double.self) {
            number = Int(exactly: fraction.rounded())
        } else if let text = try? container?.decode(String.self) {
            number = Int(text) ?? Double(text).flatMap { Int(exactly: $0.rounded()) }
        } else {
            number = nil
        }
        value = number.map { Int(SafeIntegers.limit($0)) }
    }
}

/// A boolean that may be written as a string. Nil for any other form.
struct TolerantFlag: Decodable, Sendable {
    let value: Bool?

    init(from decoder: any Decoder) {
        let container = try? decoder.singleValueContainer()
        value = (try? container?.decode(Bool.self)) ?? (try? container?.decode(String.self)).flatMap { Bool($0) }
    }
}
