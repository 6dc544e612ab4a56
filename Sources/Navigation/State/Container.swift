/// How a root arranges the screens beside it.
public enum Container: Hashable, Sendable {
    /// Columns side by side: the root is the first, the others hold one screen each, by the column's name.
    case split(columns: [String: ScreenInstance])
    /// Tabs, of which one is selected.
    case tabs([String], selected: String)

    /// The screens in the columns, in the order of the columns' names.
    public var columns: [ScreenInstance] {
        guard case .split(let columns) = self else { return [] }
        return columns.sorted { $0.key < $1.key }.map(\.value)
    }
}

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
            self = .split(columns: try object.decode([String: ScreenInstance].self, forKey: .columns))
        case .tabs:
            self = .tabs(
                try object.decode([String].self, forKey: .tabs),
                selected: try object.decode(String.self, forKey: .selected)
            )
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
