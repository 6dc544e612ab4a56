package import EventBus

/// Which messages somebody wants to see: of one of the kinds, of one of the types, and of the subject.
package struct MessageSelection: Hashable, Sendable {
    /// Empty for any.
    package var kinds: [MessageKind]
    /// Empty for any.
    package var types: [MessagePattern]
    /// `nil` for any.
    package var subject: String?

    package init(kinds: [MessageKind] = [], types: [MessagePattern] = [], subject: String? = nil) {
        self.kinds = kinds
        self.types = types
        self.subject = subject
    }

    package func matches(_ message: Envelope) -> Bool {
        (kinds.isEmpty || kinds.contains(message.type.kind))
            && (types.isEmpty || types.contains { $0.matches(message.type) })
            && (subject == nil || subject == message.subject)
    }

    /// What to subscribe to: at least all that matches.
    package var filters: [MessageFilter] {
        if !types.isEmpty { return types.flatMap { $0.filters(subject: subject) } }
        if !kinds.isEmpty { return kinds.map { .kind($0, subject: subject) } }
        return [MessageFilter(subject: subject)]
    }
}
