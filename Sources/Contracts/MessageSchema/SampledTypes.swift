internal import Contracts
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
        .init(schema: .nullable(try probe.elements(of: Wrapped.self)), value: nil)
    }
}

extension Array: Sampled where Element: Decodable {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .array(try probe.elements(of: Element.self)), value: [])
    }
}

extension Set: Sampled where Element: Decodable {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .array(try probe.elements(of: Element.self)), value: [])
    }
}

extension Dictionary: Sampled where Key: Decodable, Value: Decodable {
    /// If the key type is neither `String` nor `CodingKeyRepresentable`, `Codable` writes a dictionary as an array in
    /// which keys and values alternate.
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        let hasNames = Key.self is String.Type || Key.self is any CodingKeyRepresentable.Type
        return .init(schema: hasNames ? .map(try probe.elements(of: Value.self)) : .array(.any), value: [:])
    }
}

extension Sampled where Self: ExpressibleByIntegerLiteral {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: Self.self is any FixedWidthInteger.Type ? .integer : .number, value: 0)
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
        .init(schema: .boolean, value: false)
    }
}

extension String: Sampled {
    /// The sample is a name: some types refuse other strings.
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: "sample")
    }
}

// The schemas of the following types describe the JSON that `JSONEncoder.wire` writes for them.

extension Date: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: Date(timeIntervalSinceReferenceDate: 0))
    }
}

extension Data: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: Data())
    }
}

extension UUID: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: UUID())
    }
}

extension URL: Sampled {
    static func sample(_ probe: SchemaProbe) throws -> SchemaProbe.Sample<Self> {
        .init(schema: .string, value: URL(fileURLWithPath: "/"))
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
