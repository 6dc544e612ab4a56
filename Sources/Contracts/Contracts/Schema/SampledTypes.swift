internal import Foundation
internal import Support

/// A type of the standard library or Foundation whose JSON is known.
protocol Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self>
}

extension Sampled {
    /// The sample without its static type, because an existential metatype cannot name `Self`.
    static func anySample(_ probe: SchemaProbe) throws -> Any { try sample(probe) }
}

extension Optional: Sampled where Wrapped: Decodable {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(
            schema: .nullable(try probe.elements(of: Wrapped.self)),
            value: try probe.choose(nil, or: probe.element(of: Wrapped.self)))
    }
}

extension Array: Sampled where Element: Decodable {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(
            schema: .array(try probe.elements(of: Element.self)),
            value: try probe.choose([], or: [probe.element(of: Element.self)].compactMap(\.self)))
    }
}

extension Set: Sampled where Element: Decodable {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(
            schema: .array(try probe.elements(of: Element.self)),
            value: try probe.choose([], or: Set([probe.element(of: Element.self)].compactMap(\.self))))
    }
}

extension Dictionary: Sampled where Key: Decodable, Value: Decodable {
    /// If the key type is neither `String` nor `CodingKeyRepresentable`, `Codable` writes a dictionary as an array in
    /// which keys and values alternate.
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        let hasNames = Key.self is String.Type || Key.self is any CodingKeyRepresentable.Type
        return .init(
            schema: hasNames ? .map(try probe.elements(of: Value.self)) : .array(.any),
            value: try probe.choose([:], or: other(probe)))
    }

    private static func other(_ probe: SchemaProbe) throws -> Self {
        guard let key = try probe.element(of: Key.self), let value = try probe.element(of: Value.self) else {
            return [:]
        }
        return [key: value]
    }
}

extension Sampled where Self: ExpressibleByIntegerLiteral {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: Self.self is any FixedWidthInteger.Type ? .integer : .number, value: probe.choose(0, or: 1))
    }
}

extension Int: Sampled {}
extension Int8: Sampled {}
extension Int16: Sampled {}
extension Int32: Sampled {}
extension Int64: Sampled {}
extension UInt: Sampled {}
extension UInt8: Sampled {}
extension UInt16: Sampled {}
extension UInt32: Sampled {}
extension UInt64: Sampled {}
extension Double: Sampled {}
extension Float: Sampled {}

extension Bool: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .boolean, value: probe.choose(false, or: true))
    }
}

extension String: Sampled {
    /// The sample is a name: some types refuse other strings.
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: probe.choose("sample", or: "other"))
    }
}

// The schemas of the following types describe the JSON that `JSONWriter` writes for them.

extension Date: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: Date(timeIntervalSinceReferenceDate: probe.choose(0, or: 1)))
    }
}

extension Data: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: probe.choose(Data(), or: Data([1])))
    }
}

extension UUID: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, probe.choose(0, or: 1))))
    }
}

extension URL: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: URL(fileURLWithPath: probe.choose("/", or: "/other")))
    }
}

extension RawRepresentable {
    /// The raw value as JSON. Nil if it is neither a string nor an integer.
    var jsonRawValue: JSONValue? {
        switch rawValue {
        case let text as String: .string(text)
        case let number as any BinaryInteger: .integer(Int(clamping: number))
        default: nil
        }
    }
}
