public import EventBus
public import Support

/// A type that declares the schema of its JSON. For other types the schema is inferred: the type is
/// decoded from sample values. A type must conform if it cannot be decoded from sample values.
public protocol SchemaDescribing {
    static var schema: JSONSchema { get }
}

extension JSONValue: SchemaDescribing {
    public static var schema: JSONSchema { .any }
}

extension Attributes: SchemaDescribing {
    /// The attributes of CloudEvents 1.0 that this project uses, and the extension attributes.
    public static var schema: JSONSchema {
        let required = ["specversion", "id", "source", "type"]
        let optional = [
            "subject", "time", "correlationid", "causationid", "traceparent", "expirytime", "platform", "device",
            "instance", "key", "recipient",
        ]
        let members =
            required.map { ($0, JSONSchema.Property(.string)) }
            + optional.map { ($0, JSONSchema.Property(.string, isRequired: false)) }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }
}

extension Document.ScheduledCommand: SchemaDescribing {
    public static var schema: JSONSchema {
        .object(requiring: [
            "at": .string, "command": .object(requiring: ["type": .string, "data": .any]), "consumer": .string,
            "id": .string,
        ])
    }
}

extension MessageContract: SchemaDescribing {
    public static var schema: JSONSchema {
        let schema = JSONSchema.Property(.map(.any), isRequired: false)
        return .object([
            "type": .init(.string), "data": schema, "answer": schema, "line": .init(.string, isRequired: false),
        ])
    }
}

extension Document.NavigationState: SchemaDescribing {
    /// The schema of the snapshot's members. It does not describe the contents of `flow`, `state` and `memory`.
    public static var schema: JSONSchema {
        let required: [String: JSONSchema] = [
            "platform": .string, "session": .string, "revision": .integer, "flow": .map(.any),
            "cause": .nullable(.string), "commands": .array(.string), "state": .map(.any), "memory": .map(.any),
            "url": .nullable(.string),
        ]
        let optional = ["rule": JSONSchema.Property(.string, isRequired: false)]
        return .object(required.mapValues { JSONSchema.Property($0) }.merging(optional) { $1 })
    }
}
