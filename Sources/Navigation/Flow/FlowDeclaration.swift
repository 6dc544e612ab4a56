internal import Support

/// The parts that the authors of a flow declare. Their meaning is that of the properties of ``Flow`` with the same names.
struct FlowDeclaration: Hashable, Sendable {
    let name: String
    let version: Int
    let platform: String
    let start: String
    let screens: [String: Flow.Screen]
    let presentations: [PresentationStyle]?
    let requests: [Flow.ActionName]
    let ignores: [String]
    let commands: [String: [String: JSONSchema.Property]]
    let flows: [String: Flow.Child]
    let transitions: [Flow.Transition]
    let links: [Flow.Link]
    let properties: [Flow.Property]

    /// The declaration as JSON, in the form of a flow's YAML file.
    var json: JSONValue { json(properties.isEmpty ? nil : .array(properties.map(\.json))) }

    /// The part of the declaration that has an effect when the flow runs.
    var effectiveJSON: JSONValue { json(nil) }

    private func json(_ properties: JSONValue?) -> JSONValue {
        .object(
            members: [
                ("name", .string(name)),
                ("version", .integer(version)),
                ("platform", .string(platform)),
                ("start", .string(start)),
                ("screens", .object(screens.mapValues(\.json))),
                ("presentations", presentations.map { .array($0.map { .string($0.rawValue) }) }),
                ("requests", requests.isEmpty ? nil : .array(requests.map { .string($0.rawValue) })),
                ("ignores", ignores.isEmpty ? nil : .array(ignores.map { .string($0) })),
                ("commands", commands.isEmpty ? nil : .object(commands.mapValues(\.json))),
                ("flows", flows.isEmpty ? nil : .object(flows.mapValues(\.json))),
                ("transitions", .array(transitions.map(\.json))),
                ("links", links.isEmpty ? nil : .array(links.map(\.json))),
                ("properties", properties),
            ])
    }
}
