package import EventBus

/// Which messages somebody wants to see: what is said here has all to be true of them.
package struct MessageSelection: Hashable, Sendable {
    /// One of these; empty for any.
    package var kinds: [MessageKind]
    /// One of these; empty for any.
    package var types: [MessagePattern]
    /// `nil` for any.
    package var subject: String?
    /// One of these; empty for any.
    package var sources: [SourcePattern]
    /// The story that they belong to; `nil` for any.
    package var correlationID: String?
    /// All of these.
    package var conditions: [WhereExpression]

    package init(
        kinds: [MessageKind] = [], types: [MessagePattern] = [], subject: String? = nil, sources: [SourcePattern] = [],
        correlationID: String? = nil, conditions: [WhereExpression] = []
    ) {
        self.kinds = kinds
        self.types = types
        self.subject = subject
        self.sources = sources
        self.correlationID = correlationID
        self.conditions = conditions
    }

    package func matches(_ message: Envelope) -> Bool {
        guard matches(message.type), subject == nil || subject == message.subject,
            sources.isEmpty || sources.contains(where: { $0.matches(message.attributes.source) }),
            correlationID == nil || correlationID == message.attributes.correlationID
        else { return false }
        guard !conditions.isEmpty else { return true }
        let values = MessageValues(message)
        return conditions.allSatisfy { $0.matches(values) }
    }

    /// Whether it takes messages of this type, as far as the type says.
    func matches(_ type: MessageType) -> Bool {
        (kinds.isEmpty || kinds.contains(type.kind)) && (types.isEmpty || types.contains { $0.matches(type) })
    }

    /// What to subscribe to: at least all that matches.
    package var filters: [MessageFilter] {
        let ofTypes = types.isEmpty ? [MessageFilter()] : types.flatMap(\.filters)
        let ofKinds = kinds.isEmpty ? ofTypes : ofTypes.flatMap { $0.limited(to: kinds) }
        // Of what has nothing in common, as events among commands, there is nothing; yet a subscription has a filter.
        let filters = ofKinds.isEmpty ? ofTypes : ofKinds
        return filters.map { MessageFilter(kind: $0.kind, name: $0.name, subject: subject) }
    }
}

extension MessageFilter {
    fileprivate func limited(to kinds: [MessageKind]) -> [MessageFilter] {
        guard let kind else { return kinds.map { MessageFilter(kind: $0, name: name) } }
        return kinds.contains(kind) ? [self] : []
    }
}
