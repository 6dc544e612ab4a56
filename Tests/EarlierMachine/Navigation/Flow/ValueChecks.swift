internal import Support

// Templates, and the arguments that are passed to screens.
extension FlowChecker {
    /// - Parameter isOfKey: True if the value belongs to a key, which a template such as `${data.colour?}` can leave
    ///   out.
    mutating func checkTemplates(in value: JSONValue, isOfKey: Bool = false, at keyPath: String) {
        switch value {
        case .string(let source): checkTemplate(source, isOfKey: isOfKey, at: keyPath)
        case .array(let elements): for element in elements { checkTemplates(in: element, at: keyPath) }
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                checkTemplates(in: member, isOfKey: true, at: "\(keyPath).\(name)")
            }
        default: break
        }
    }

    mutating func checkTemplate(_ source: String, isOfKey: Bool = false, at keyPath: String) {
        if isRequest { return }
        do {
            let template = try Template(source)
            if let placeholder = template.placeholders.first(where: \.isOptional), !isOfKey || template.whole == nil {
                report(
                    "'${\(placeholder.path)?}' leaves out its key, so it must be the whole value of a key; write a default, "
                        + "such as '${\(placeholder.path):-none}'",
                    at: keyPath)
            }
            for screen in template.screens { checkScreen(screen, at: keyPath) }
            if !hasMessage, template.refersToMessage {
                report(
                    "a rule with 'after' has no message and no sender; use only ${arguments…} and ${screens…}",
                    at: keyPath)
                return
            }
            if template.refersToAnswer, !allowsAnswer {
                report(
                    "'${answer…}' cannot be used here; use it only in 'do' and 'rejected' of a rule with a guard",
                    at: keyPath)
            }
        } catch {
            report(error.description, at: keyPath)
        }
    }

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
            guard !isRequest, let placeholder = argument.stringValue.flatMap({ Template.optional(in: $0) }) else {
                continue
            }
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
                "'\(problem.path)' of screen '\(screen)': \(problem.message)\(remedy)", at: "\(keyPath).\(problem.path)"
            )
        }
    }

    /// Checks the arguments that deep links pass to screens.
    mutating func checkLinkArguments() {
        for (index, link) in flow.links.enumerated() {
            for (name, target) in [("to", link.to), ("otherwise", link.otherwise)] {
                guard let target else { continue }
                let others = target.root?.container?.tabs.filter { $0.name != target.tab }.map(\.destination) ?? []
                for destination in target.destinations + others {
                    checkArguments(destination.arguments, of: destination.screen, at: "links[\(index)].\(name)")
                }
            }
        }
    }

    /// True if a string is a template with a placeholder. An invalid template is reported elsewhere.
    private static func hasPlaceholder(_ text: String) -> Bool {
        guard text.contains(scalars: "${") else { return false }
        guard let segments = try? Template.segments(of: text) else { return true }
        return segments.contains { if case .placeholder = $0 { true } else { false } }
    }
}
