internal import Support

extension FlowChecker {
    /// Checks the arguments that are passed to a screen, as far as the screen declares them and they are constants.
    ///
    /// - Parameter isPartial: True if the arguments are only some of those of an instance.
    mutating func checkArguments(
        _ arguments: [String: JSONValue], of screen: String, isPartial: Bool = false, at keyPath: String
    ) {
        guard let declared = flow.screens[screen]?.arguments else { return }
        let isRequest = isRequest
        let problems = JSONSchema.object(declared).problems(
            with: .object(arguments), at: "arguments", type: { isRequest || !Self.hasPlaceholder($0) ? nil : .any })
        for (name, argument) in arguments.sorted(by: { $0.key < $1.key })
        where !isPartial && declared[name]?.isRequired == true {
            guard !isRequest, let placeholder = argument.stringValue.flatMap({ Template.optional(in: $0) }) else { continue }
            report(
                "'\(name)' of screen '\(screen)' is required, and '${\(placeholder)?}' may leave it out; write a default, "
                    + "such as '${\(placeholder):-none}'",
                at: "\(keyPath).arguments.\(name)")
        }
        for problem in problems where !isPartial || problem.kind != .missing {
            let remedy =
                switch problem.kind {
                case .missing: "; add it"
                case .unknown: ""
                case .value, .type: problem.message.contains(scalars: "; ") ? "" : "; correct it"
                }
            report(
                "'\(problem.path)' of screen '\(screen)': \(problem.message)\(remedy)", at: "\(keyPath).\(problem.path)")
        }
    }

    /// Checks the arguments that deep links pass to screens.
    mutating func checkLinkArguments() {
        for (index, link) in flow.links.enumerated() {
            let others = link.to.root?.container?.tabs.filter { $0.name != link.to.tab }.map(\.destination) ?? []
            for destination in link.to.destinations + others {
                checkArguments(destination.arguments, of: destination.screen, at: "links[\(index)].to")
            }
        }
    }

    /// True if a string is a template with a placeholder. An invalid template is reported elsewhere.
    private static func hasPlaceholder(_ text: String) -> Bool {
        guard text.contains(scalars: "${") else { return false }
        return (try? Template.segments(of: text)).map { $0.contains { if case .placeholder = $0 { true } else { false } } }
            ?? true
    }
}
