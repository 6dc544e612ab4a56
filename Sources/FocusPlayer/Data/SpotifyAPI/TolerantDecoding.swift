/// A value that may be null or have another form. Then it is nil, and the values beside it remain.
struct Tolerant<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) {
        value = try? Value(from: decoder)
    }
}

extension Tolerant: Sendable where Value: Sendable {}

/// An integer that may be written as a fraction or a string.
struct TolerantNumber: Decodable, Sendable {
    let value: Int?

    init(from decoder: any Decoder) {
        let container = try? decoder.singleValueContainer()
        if let number = try? container?.decode(Int.self) {
            value = number
        } else if let number = try? container?.decode(Double.self) {
            value = Int(exactly: number.rounded())
        } else if let text = try? container?.decode(String.self) {
            value = Int(text) ?? Double(text).flatMap { Int(exactly: $0.rounded()) }
        } else {
            value = nil
        }
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
