extension Container: Codable {
    private enum Kind: String, Codable {
        case split
        case tabs
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case columns
        case tabs
        case selected
    }

    /// Decodes `{kind: split, columns}` or `{kind: tabs, tabs, selected}`.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        switch try object.decode(Kind.self, forKey: .kind) {
        case .split:
            self = .split(columns: try object.decode([String: ScreenStack].self, forKey: .columns))
        case .tabs:
            let tabs = try object.decode([Tab].self, forKey: .tabs)
            let selected = try object.decode(String.self, forKey: .selected)
            guard tabs.contains(where: { $0.name == selected }) else {
                let message = "there is no tab '\(selected)' to be selected"
                throw DecodingError.dataCorruptedError(forKey: .selected, in: object, debugDescription: message)
            }
            self = .tabs(tabs, selected: selected)
        }
    }

    /// Encodes the container with its kind.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .split(let columns):
            try object.encode(Kind.split, forKey: .kind)
            try object.encode(columns, forKey: .columns)
        case .tabs(let tabs, let selected):
            try object.encode(Kind.tabs, forKey: .kind)
            try object.encode(tabs, forKey: .tabs)
            try object.encode(selected, forKey: .selected)
        }
    }
}

extension Container.Tab: Codable {
    private enum CodingKeys: String, CodingKey {
        case name
    }

    /// Decodes the name and the stack from one object.
    public init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        stack = try ScreenStack(from: decoder)
    }

    /// Encodes the name and the stack as one object.
    public func encode(to encoder: any Encoder) throws {
        try stack.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(name, forKey: .name)
    }
}
