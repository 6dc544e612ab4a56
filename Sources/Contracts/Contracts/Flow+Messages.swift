public import EventBus
public import Navigation
public import Support

// Flows in Swift whose messages and fields are named by their structs.

extension Flow.Screen {
    /// A screen that sends these commands.
    ///
    ///     Flow.Screen("menu", sends: Command.BrewStarted.self)
    public init(
        _ name: String,
        title: String? = nil,
        sends command: any CommandMessage.Type,
        _ others: any CommandMessage.Type...,
        arguments: [String: JSONSchema.Property]? = nil,
        gate: Bool = false
    ) {
        self.init(
            name, title: title, sends: ([command] + others).map { $0.type.description }, arguments: arguments,
            gate: gate)
    }
}

extension Flow.Transition {
    /// A rule on a message. Key paths name the message's fields:
    ///
    ///     Flow.Transition(
    ///         on: DomainEvent.BrewFinished.self, where: [\.seconds: .atLeast(60)],
    ///         do: [.push(.screen("ready", ["seconds": .data(\DomainEvent.BrewFinished.seconds)]))])
    ///
    /// A field is found in a sample of the message. The flow is refused if a key path does not lead to a field; a type
    /// that cannot be decoded from sample values needs the names of its fields, and the initializer with strings.
    public init<M: Message>(
        on message: M.Type,
        where fields: [PartialKeyPath<M>: Flow.Match] = [:],
        when: [Flow.Condition] = [],
        unless: [Flow.Condition] = [],
        origin: Flow.Origin = .any,
        guard condition: Flow.Guard? = nil,
        do actions: [Flow.Action],
        file: String = #fileID,
        line: Int = #line
    ) {
        self.init(
            on: M.type.description, where: fields.byName(), when: when, unless: unless, origin: origin,
            guard: condition,
            do: actions, file: file, line: line)
    }
}

extension Flow.Guard.Answer {
    /// An answer of this type, with the conditions on its fields, by key path.
    public init<M: Message>(_ message: M.Type, where fields: [PartialKeyPath<M>: Flow.Match] = [:]) {
        self.init(M.type.description, where: fields.byName())
    }
}

extension Flow.Guard.Ask {
    /// A command that is sent as the question, with its data by key path.
    public init<M: CommandMessage>(_ command: M.Type, _ data: [PartialKeyPath<M>: JSONValue] = [:]) {
        self.init(M.type.description, data: JSONValue(data))
    }
}

extension Flow.Action {
    /// Sends a command with its data by key path.
    ///
    ///     .send(Command.BrewStarted.self, [\.seconds: .data(\DomainEvent.BrewFinished.seconds)])
    public static func send<M: CommandMessage>(_ command: M.Type, _ data: [PartialKeyPath<M>: JSONValue] = [:])
        -> Flow.Action
    {
        .send(type: M.type.description, data: JSONValue(data))
    }
}

extension JSONValue {
    /// The template of a field of the message that the rule matched: `${data.FIELD}`.
    public static func data<M: Message>(_ field: PartialKeyPath<M>) -> JSONValue {
        .string("${data.\(field.name)}")
    }

    /// The template of a field of the answer to the rule's guard: `${answer.FIELD}`.
    public static func answer<M: Message>(_ field: PartialKeyPath<M>) -> JSONValue {
        .string("${answer.\(field.name)}")
    }
}

extension JSONValue {
    /// Data with these values of a message's fields.
    fileprivate init<M: Message>(_ data: [PartialKeyPath<M>: JSONValue]) {
        self.init(
            fields: data.map { field, value in
                let name = field.name
                // The checks of a flow refuse this template.
                if name.begins(with: ".") { return ([name], .data(field)) }
                return (name.split(scalar: ".").map(String.init), value)
            })
    }

    private init(fields: [(path: [String], value: JSONValue)]) {
        let members = Dictionary(grouping: fields) { $0.path[0] }
        self = .object(
            members.mapValues { fields in
                guard let whole = fields.first(where: { $0.path.count == 1 }) else {
                    return JSONValue(fields: fields.map { (Array($0.path.dropFirst()), $0.value) })
                }
                // The checks of a flow refuse this template.
                return fields.count == 1 ? whole.value : .string("${data..\(whole.path[0]) is given twice}")
            })
    }
}

extension Dictionary {
    /// The values by the paths of the fields. The checks of a flow refuse the path of a field that is given twice.
    fileprivate func byName<M: Message>() -> [String: Value] where Key == PartialKeyPath<M> {
        var values: [String: Value] = [:]
        for (field, value) in self {
            let name = field.name
            values[values[name] == nil ? name : ".\(name) is given twice"] = value
        }
        return values
    }
}

extension PartialKeyPath where Root: Message {
    /// The dotted path of the field in the message's JSON. If there is none, the reason after a dot: a path that the
    /// checks of a flow refuse.
    fileprivate var name: String {
        do { return try FieldPath.path(of: self) } catch { return ".\(error)" }
    }
}
