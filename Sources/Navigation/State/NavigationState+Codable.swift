extension NavigationState: Codable {
    private enum CodingKeys: String, CodingKey {
        case root
        case path
        case presented
        case leaving
        case runs
        case attempt
        case parked
    }

    /// Decodes a state; without `runs` no child flow runs. The presentations are nested, each in the one that presents it.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        root = try object.decode(RootScreen.self, forKey: .root)
        path = try object.decode([ScreenInstance].self, forKey: .path)
        leaving = try object.decode([ScreenInstance].self, forKey: .leaving)
        parked = try object.decodeIfPresent(ParkedLink.self, forKey: .parked)
        presentations = try object.decode(PresentationChain?.self, forKey: .presented)?.presentations ?? []
        runs = try object.decodeIfPresent([FlowRun].self, forKey: .runs) ?? []
        attempt = try object.decodeIfPresent(Attempt.self, forKey: .attempt)
    }

    /// Encodes the state; `presented` and `parked` are null when there is nothing, `runs` is absent when no child flow
    /// runs, `attempt` when none waits.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(root, forKey: .root)
        try object.encode(path, forKey: .path)
        try object.encode(PresentationChain(presentations[...]), forKey: .presented)
        try object.encode(leaving, forKey: .leaving)
        if !runs.isEmpty { try object.encode(runs, forKey: .runs) }
        try object.encodeIfPresent(attempt, forKey: .attempt)
        try object.encode(parked, forKey: .parked)
    }
}

/// Presentations as JSON nests them. A list is simpler to work on; nesting says who presents whom.
private struct PresentationChain: Codable {
    var presentations: [Presentation]

    init?(_ presentations: ArraySlice<Presentation>) {
        guard !presentations.isEmpty else { return nil }
        self.presentations = Array(presentations)
    }

    private enum CodingKeys: String, CodingKey {
        case presented
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let above = try object.decode(PresentationChain?.self, forKey: .presented)
        presentations = [try Presentation(from: decoder)] + (above?.presentations ?? [])
    }

    func encode(to encoder: any Encoder) throws {
        try presentations.first?.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(PresentationChain(presentations.dropFirst()), forKey: .presented)
    }
}
