extension Flow.Link {
    var json: JSONValue {
        .object(
            members: [
                ("url", .string(url)),
                ("when", when.isEmpty ? nil : Flow.Condition.json(of: when)),
                ("unless", unless.isEmpty ? nil : Flow.Condition.json(of: unless)),
                ("to", to.json),
                ("send", sends.isEmpty ? nil : .array(sends.map(\.json))),
                ("park", park == Self.usualPark ? nil : .string(park.text)),
                ("over", over.isEmpty ? nil : .object(members: over.map { ($0.rawValue, .string($1.rawValue)) })),
            ])
    }
}

extension Flow.Link.Sending {
    fileprivate var json: JSONValue {
        .object(members: [("type", .string(type)), ("data", data.isEmpty ? nil : .object(data))])
    }
}

extension Flow.Link.Column {
    fileprivate var json: JSONValue {
        .object(
            members: (first.json.objectValue ?? [:]).map { ($0, $1) } + [
                ("path", path.isEmpty ? nil : .array(path.map(\.json)))
            ])
    }
}

extension Flow.Link.Target {
    fileprivate var json: JSONValue {
        .object(
            members: [
                ("root", root.flatMap { Flow.Action.setRoot($0.destination, container: $0.container).json["setRoot"] }),
                ("tab", tab.map { .string($0) }),
                ("columns", columns.isEmpty ? nil : .object(columns.mapValues(\.json))),
                ("path", path.isEmpty ? nil : .array(path.map(\.json))),
                (
                    "present",
                    present.flatMap {
                        Flow.Action.present($0.destination, as: $0.style, options: $0.options).json["present"]
                    }
                ),
            ])
    }
}
