internal import Navigation
package import Support

/// The messages of an app with their fields, and the services that send and receive them. A review compares a flow with
/// them.
package struct MessageCatalogue: Hashable, Sendable {
    /// The schema of each message's data, by type. If it is not an object with known members, the message may have any
    /// fields.
    package let data: [String: JSONSchema]
    /// The app's services, by name, without the processes that run flows.
    package let services: [String: Service]
    /// The types of the commands that flows of the app answer, on any platform.
    package let flowCommands: Set<String>
    /// True if the app may have further messages.
    private(set) var isPartial = false

    /// The messages of one service.
    package struct Service: Hashable, Sendable {
        /// The types of the messages that it handles.
        package var receives: Set<String>
        /// The types of all events and errors that it sends, without `event.MessageDiscarded`.
        package var outcomes: Set<String>
        /// The types of all messages that it sends.
        package var sends: Set<String>
        /// For each type that one of its handlers handles, the types that the handler sends. What is not among them, the
        /// service may send at any time. Nil if it does not declare this.
        package var answers: [String: Set<String>]?

        package init(
            receives: Set<String> = [], outcomes: Set<String> = [], sends: Set<String> = [],
            answers: [String: Set<String>]? = nil
        ) {
            self.receives = receives
            self.outcomes = outcomes
            self.sends = sends
            self.answers = answers
        }
    }

    /// Creates a catalogue. Without services, the review leaves out the checks of services.
    package init(
        _ data: [String: JSONSchema], services: [String: Service] = [:], flowCommands: Set<String> = []
    ) {
        self.data = data
        self.services = services
        self.flowCommands = flowCommands
    }

    /// The catalogue of an app whose messages are not known.
    static let unknown: MessageCatalogue = {
        var catalogue = MessageCatalogue([:])
        catalogue.isPartial = true
        return catalogue
    }()

    /// The catalogue of an app of whose handlers nothing is known.
    package var withoutAnswers: MessageCatalogue {
        let services = services.mapValues { service in
            var service = service
            service.answers = nil
            return service
        }
        var catalogue = MessageCatalogue(data, services: services, flowCommands: flowCommands)
        catalogue.isPartial = isPartial
        return catalogue
    }

    /// The data of what rules answer besides messages of the bus, by type: the ends of child flows and acts of the user.
    private static let unpublished: [String: JSONSchema] = {
        let acts = Flow.UserAct.allCases.map { act in
            (
                act.rawValue,
                JSONSchema.object(requiring: Dictionary(uniqueKeysWithValues: act.fields.map { ($0, .string) }))
            )
        }
        return [
            Flow.Ending.finished.rawValue: .object(requiring: ["flow": .string, "run": .string, "result": .map(.any)]),
            Flow.Ending.abandoned.rawValue: .object(requiring: ["flow": .string, "run": .string]),
        ].merging(acts) { $1 }
    }()

    /// The catalogue with the commands that a flow declares, and with the ends of child flows and acts of the user. The
    /// fields of a message that the catalogue has are kept.
    package func adding(_ commands: [String: [String: JSONSchema.Property]]) -> MessageCatalogue {
        let declared = commands.mapValues { JSONSchema.object($0) }
        var catalogue = MessageCatalogue(
            data.merging(declared) { known, declared in known.members == nil ? declared : known }
                .merging(Self.unpublished) { $1 },
            services: services, flowCommands: flowCommands)
        catalogue.isPartial = isPartial
        return catalogue
    }
}

// Schemas as far as a review looks up and compares them.
extension JSONSchema {
    /// The result of looking up a field.
    package enum Lookup {
        case found(JSONSchema)
        /// The schema allows any fields there.
        case open
        /// There is no such field; the path up to the unknown name, and the names that are known there.
        case unknown(String, among: [String])
    }

    /// Looks up the field at a dotted path.
    package func field(at path: String) -> Lookup {
        var schema = self
        let parts = path.split(scalar: ".").map(String.init)
        for (index, part) in parts.enumerated() {
            switch schema.withoutNull {
            case .object(let members):
                guard let member = members[part] else {
                    return .unknown(parts[...index].joined(separator: "."), among: members.keys.sorted())
                }
                schema = member.schema
            case .map(let members): schema = members
            case .array(let elements) where Int(part) != nil: schema = elements
            case .any, .array: return .open
            default: return .unknown(parts[...index].joined(separator: "."), among: [])
            }
        }
        return .found(schema)
    }

    var withoutNull: JSONSchema { if case .nullable(let schema) = self { schema.withoutNull } else { self } }

    /// The JSON type of the values: `number` also for whole numbers, `array` and `map` without the types of their elements.
    var kind: JSONSchema {
        switch self {
        case .integer, .number, .range: .number
        case .enumeration(let values): values.first.map(Self.init(typeOf:)) ?? .any
        case .array: .array(.any)
        case .map, .object: .map(.any)
        case .nullable(let schema): schema.kind
        case .any, .boolean, .string: self
        }
    }

    /// The schema of the values with the JSON type of a value. `any` for null.
    init(typeOf value: JSONValue) {
        self =
            switch value {
            case .null: .any
            case .bool: .boolean
            case .integer: .integer
            case .number: .number
            case .string: .string
            case .array: .array(.any)
            case .object: .map(.any)
            }
    }

    /// The schema of the values that one of the two schemas allows. Nil if their types differ.
    func joined(with other: JSONSchema) -> JSONSchema? {
        switch (self, other) {
        case _ where self == other: self
        case (.range(let schema, _, _), _): schema.joined(with: other)
        case (_, .range(let schema, _, _)): joined(with: schema)
        case (.integer, .number), (.number, .integer): .number
        case (.enumeration(let values), .enumeration(let others)) where kind == other.kind:
            .enumeration(values + others.filter { !values.contains($0) })
        case (.enumeration(let values), _) where !other.refuses(self): values.isEmpty ? nil : other
        case (_, .enumeration(let values)) where !refuses(other): values.isEmpty ? nil : self
        default: nil
        }
    }
}

extension [String: JSONSchema.Property] {
    /// The first difference between the fields that a flow declares and those of the contract: the path of the field,
    /// and the difference in words. Nil if there is none.
    func difference(from known: Self, in parent: String = "") -> (field: String, difference: String)? {
        for name in Set(keys).union(known.keys).sorted() {
            let path = parent + name
            guard let declared = self[name]?.schema.withoutNull else { return (path, "it has a field '\(path)'") }
            guard let known = known[name]?.schema.withoutNull else { return (path, "it has no field '\(path)'") }
            let (kind, other) = (declared.kind, known.kind)
            if kind != other, kind != .any, other != .any {
                return (path, "there '\(path)' is \(other), and here \(kind)")
            }
            if case (.enumeration(let values), .enumeration(let others)) = (declared, known), Set(values) != Set(others)
            {
                return (path, "there '\(path)' is \(known)")
            }
            if let members = declared.members, let others = known.members,
                let inner = members.difference(from: others, in: "\(path).")
            {
                return inner
            }
        }
        return nil
    }
}
