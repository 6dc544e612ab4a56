internal import Support

/// A declared argument of a screen, or a declared field of a command, that gets a value of a link's URL.
struct LinkUse {
    let placeholder: String
    /// The default in `${url.NAME:-DEFAULT}`. Nil if there is none.
    let fallback: String?
    /// The name of the argument or field.
    let name: String
    /// The screen or the command.
    let owner: String
    let field: JSONSchema.Property
}

extension FlowDeclaration {
    /// The declared arguments and fields that get values of a link's URL.
    func uses(of link: Flow.Link) -> [LinkUse] {
        let destinations = (link.to?.destinations ?? []) + (link.otherwise?.destinations ?? [])
        return destinations.flatMap { uses(in: $0.arguments, of: $0.screen, screens[$0.screen]?.arguments) }
            + link.sends.flatMap { uses(in: $0.data, of: $0.type, commands[$0.type]) }
    }

    private func uses(
        in members: [String: JSONValue], of owner: String, _ declared: [String: JSONSchema.Property]?
    ) -> [LinkUse] {
        guard let declared else { return [] }
        return members.sorted { $0.key < $1.key }.compactMap { name, member in
            guard let field = declared[name], case .placeholder(let placeholder, let fallback) = LinkArgument(member)
            else { return nil }
            return LinkUse(placeholder: placeholder, fallback: fallback, name: name, owner: owner, field: field)
        }
    }
}
