extension UpRequest {
    private enum CodingKeys: String, CodingKey {
        case stack, inactive, selection, recreation, grace
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            stack: try Stack(text: container.decode(String.self, forKey: .stack)),
            inactive: try container.decode(Set<String>.self, forKey: .inactive),
            selection: try container.decode(Selection.self, forKey: .selection),
            recreation: try container.decode(Recreation.self, forKey: .recreation),
            grace: try container.decodeIfPresent(Duration.self, forKey: .grace))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stack.text, forKey: .stack)
        try container.encode(inactive, forKey: .inactive)
        try container.encode(selection, forKey: .selection)
        try container.encode(recreation, forKey: .recreation)
        try container.encodeIfPresent(grace, forKey: .grace)
    }
}
