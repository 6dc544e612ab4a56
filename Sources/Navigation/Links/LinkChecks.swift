internal import Support

extension FlowChecker {
    mutating func checkLinks() {
        for (index, link) in flow.links.enumerated() {
            let keyPath = "links[\(index)]"
            check(link, at: keyPath)
            checkCompetition(with: flow.links[..<index], of: link, at: keyPath)
        }
        guard !flow.links.isEmpty else { return }
        checkNoRule(in: flow.transitions, at: "transitions")
        for (name, child) in flow.flows.sorted(by: { $0.key < $1.key }) {
            checkNoRule(in: child.transitions, at: "flows.\(name).transitions")
        }
    }

    private mutating func checkNoRule(in transitions: [Flow.Transition], at keyPath: String) {
        for (index, rule) in transitions.enumerated() where rule.on.contains(Machine.deepLinkReceived) {
            report(
                "the flow's 'links' handle '\(Machine.deepLinkReceived)'; remove this rule or 'links'",
                at: "\(keyPath)[\(index)].on")
        }
    }

    private mutating func check(_ link: Flow.Link, at keyPath: String) {
        checkConstants(in: link.when, of: "a link", at: "\(keyPath).when")
        checkConstants(in: link.unless, of: "a link", at: "\(keyPath).unless")
        if link.park < .zero || link.park > .seconds(366 * 86_400) {
            report("'park' must be at least 0s and at most 366d; correct it", at: "\(keyPath).park")
        }
        checkPurpose(of: link, at: keyPath)
        if let to = link.to { check(to, "to", at: "\(keyPath).to") }
        if let otherwise = link.otherwise { check(otherwise, "otherwise", at: "\(keyPath).otherwise") }
        for (index, command) in link.sends.enumerated() { checkCommand(command.type, at: "\(keyPath).send[\(index)]") }
        do {
            let pattern = try URLPattern(link.url)
            checkPlaceholders(of: pattern, in: link, at: keyPath)
            for use in flow.program.declaration.uses(of: link) { check(use, of: pattern, at: "\(keyPath).url") }
            if let redirect = link.redirect { check(redirect, of: link, pattern, at: "\(keyPath).redirect") }
        } catch {
            report(error.description, at: "\(keyPath).url")
        }
    }

    /// Checks that the link opens screens, leads to another URL, or only sends commands, and has no other keys.
    private mutating func checkPurpose(of link: Flow.Link, at keyPath: String) {
        let given = [
            ("to", link.to != nil), ("otherwise", link.otherwise != nil), ("park", link.park != Flow.Link.usualPark),
            ("over", !link.over.isEmpty),
        ]
        if link.redirect != nil {
            for (key, isGiven) in given + [("action", link.isAction), ("send", !link.sends.isEmpty)] where isGiven {
                report("a link with 'redirect' only leads to another URL; remove '\(key)'", at: "\(keyPath).\(key)")
            }
        } else if link.isAction {
            for (key, isGiven) in given where isGiven {
                report(
                    "a link with 'action: true' opens no screens and does not wait; remove '\(key)'",
                    at: "\(keyPath).\(key)")
            }
            if link.sends.isEmpty { report("a link with 'action: true' needs 'send'; add a command", at: keyPath) }
        } else if link.to == nil {
            let advice =
                link.sends.isEmpty
                ? "add 'to: { root: SCREEN }', or 'redirect: URL'"
                : "add 'to: { root: SCREEN }', or 'action: true' if any web page may make the app send this"
            report("the link opens no screens; \(advice)", at: keyPath)
        } else if link.otherwise != nil, link.when.isEmpty, link.unless.isEmpty {
            report(
                "'otherwise' is for a link whose conditions do not hold, and it has none; add 'when' or 'unless'",
                at: "\(keyPath).otherwise")
        }
    }

    /// Checks conditions that no message brings: they have no templates and no sender.
    mutating func checkConstants(in conditions: [Flow.Condition], of owner: String, at keyPath: String) {
        check(conditions, at: keyPath)
        let values = conditions.flatMap(\.screens).flatMap(\.arguments.values).flatMap(\.values)
        if values.contains(where: { LinkArgument($0) != .constant($0) }) {
            report("the conditions of \(owner) cannot contain templates; remove '${…}'", at: keyPath)
        }
        if conditions.contains(where: { $0.scope == .sender }) {
            report("no screen sends \(owner); remove 'sender'", at: "\(keyPath).sender")
        }
    }

    /// Checks a target without values of a URL.
    package mutating func check(state target: Flow.Link.Target, _ key: String, at keyPath: String) {
        check(target, key, at: keyPath)
        for destination in target.destinations {
            if !destination.arguments.values.allSatisfy({ LinkArgument($0) == .constant($0) }) {
                report("'\(key)' has no URL, so arguments must be constants; remove '${…}'", at: keyPath)
            }
            checkArguments(destination.arguments, of: destination.screen, at: keyPath)
        }
    }

    private mutating func check(_ target: Flow.Link.Target, _ key: String, at keyPath: String) {
        if target.destinations.isEmpty, target.tab == nil {
            report("'\(key)' is empty; add 'root', 'path' or 'present'", at: keyPath)
        }
        if let root = target.root {
            checkScreen(root.destination.screen, at: "\(keyPath).root.screen")
            check(root.container, of: target, at: "\(keyPath).root.container")
        }
        if !target.columns.isEmpty, target.root?.container != .split {
            report("'columns' needs a root with 'container: split'; add it to 'root'", at: "\(keyPath).columns")
        }
        if let tab = target.tab {
            guard target.root?.container?.tabs.contains(where: { $0.name == tab }) == true else {
                report("tab '\(tab)' needs a root whose container has this tab; add it to 'root'", at: "\(keyPath).tab")
                return
            }
        }
        for (name, column) in target.columns.sorted(by: { $0.key < $1.key }) {
            checkScreen(column.first.screen, at: "\(keyPath).columns.\(name)")
            for (index, destination) in column.path.enumerated() {
                checkScreen(destination.screen, at: "\(keyPath).columns.\(name).path[\(index)]")
            }
        }
        for (index, destination) in target.path.enumerated() {
            checkScreen(destination.screen, at: "\(keyPath).path[\(index)]")
        }
        guard let present = target.present else { return }
        checkScreen(present.destination.screen, at: "\(keyPath).present.screen")
        check(present.options, of: present.style, at: "\(keyPath).present")
        let options = present.options
        let buttons = (options.buttons ?? []).flatMap { button in
            [button.title] + ([.object(button.data ?? [:])] + button.actions.map(\.json)).map(\.description)
        }
        let texts = [options.title, options.message].compactMap(\.self) + buttons
        if texts.contains(where: { $0.contains(scalars: "${") }) {
            report(
                "title, message and buttons of a link's presentation cannot contain templates; remove '${…}'",
                at: "\(keyPath).present")
        }
    }

    /// Checks the container of a link's root, except for the arguments of the tab that the link selects.
    private mutating func check(_ layout: Flow.Layout?, of target: Flow.Link.Target, at keyPath: String) {
        guard case .tabs(let tabs, _) = layout else { return }
        check(.tabs(tabs.map { .tab($0.name, .screen($0.destination.screen)) }), isPartial: true, at: keyPath)
        for (index, tab) in tabs.enumerated() where tab.name != target.tab {
            if tab.destination.arguments.values.contains(where: { !LinkArgument($0).isConstant }) {
                report(
                    "only the tab that the link selects can use values of the URL; remove '${…}'",
                    at: "\(keyPath).tabs[\(index)]")
            }
        }
    }

    /// Checks that each placeholder of the URL is used by a screen, or by a command if the link opens no screens, and
    /// that each value that the link uses is in the URL.
    private mutating func checkPlaceholders(of pattern: URLPattern, in link: Flow.Link, at keyPath: String) {
        for (key, target) in [("to", link.to), ("otherwise", link.otherwise)] {
            for destination in target?.destinations ?? [] {
                check(destination.arguments, of: destination.screen, among: pattern, at: "\(keyPath).\(key)")
            }
        }
        for (index, command) in link.sends.enumerated() {
            check(command.data, of: command.type, among: pattern, at: "\(keyPath).send[\(index)]")
        }
        // A redirect may drop values.
        guard link.to != nil || link.isAction else { return }
        let members = link.to?.destinations.map(\.arguments) ?? link.sends.map(\.data)
        let used = Set(members.flatMap(\.values).compactMap { LinkArgument($0).placeholder })
        let (owner, part) = link.to == nil ? ("command", "a field") : ("screen", "an argument")
        for name in pattern.required + pattern.optional where !used.contains(name) {
            report(
                "no \(owner) uses '{\(name)}' of the link's URL; add \(part) '${url.\(name)}', or remove it",
                at: "\(keyPath).url")
        }
    }

    private mutating func check(
        _ members: [String: JSONValue],
        of owner: String,
        among pattern: URLPattern,
        at keyPath: String
    ) {
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            switch LinkArgument(member) {
            case .constant: break
            case .placeholder(let value, let fallback): check(value, fallback, of: pattern, at: keyPath)
            case .unreadable:
                report(
                    "'\(name)' of '\(owner)' must be a constant or only '${url.NAME}' or '${url.NAME:-DEFAULT}'; "
                        + "correct it",
                    at: keyPath)
            }
        }
    }

    /// Checks that a value is in the URL, and that its default has the value's type.
    private mutating func check(_ name: String, _ fallback: String?, of pattern: URLPattern, at keyPath: String) {
        guard let type = pattern.type(of: name) else {
            let advice = Spelling.advice(for: name, among: pattern.required + pattern.optional)
            return report("the link's URL has no '{\(name)}'; \(advice)", at: keyPath)
        }
        guard let fallback else { return }
        if pattern.required.contains(name) {
            report("every URL has '{\(name)}', so the default is never used; write '${url.\(name)}'", at: keyPath)
        } else if type.value(of: fallback) == nil {
            report("the default '\(fallback)' of '{\(name):\(type)}' is not of this type; correct it", at: keyPath)
        }
    }

    /// Checks that the values of a placeholder are of the type that a screen or a command declares.
    private mutating func check(_ use: LinkUse, of pattern: URLPattern, at keyPath: String) {
        guard let type = pattern.type(of: use.placeholder) else { return }
        let (name, schema) = (use.placeholder, use.field.schema)
        guard type.isAllowed(by: schema) else {
            let others = URLPattern.ValueType.allCases
            let advice =
                others.last { $0.isAllowed(by: schema) }
                .map { "write '{\($0 == .string ? name : "\(name):\($0)")}'" }
                ?? "use a constant"
            return report("'\(use.name)' of '\(use.owner)' is \(schema), not '{\(name)}'; \(advice)", at: keyPath)
        }
        guard let fallback = use.fallback else {
            if use.field.isRequired, pattern.optional.contains(name) {
                report(
                    "'\(use.owner)' requires '\(use.name)', and a URL may lack '{\(name)}'; write "
                        + "'${url.\(name):-DEFAULT}', or declare '\(use.name)?'",
                    at: keyPath)
            }
            return
        }
        guard let value = type.value(of: fallback), let problem = schema.problems(with: value, at: use.name).first
        else {
            return
        }
        report("the default of '{\(name)}' for '\(use.owner)' is not allowed: \(problem); correct it", at: keyPath)
    }

    /// Checks that a redirect is a URL, and that a link may match it.
    private mutating func check(_ redirect: String, of link: Flow.Link, _ pattern: URLPattern, at keyPath: String) {
        guard let template = LinkTemplate(redirect), RawURL(redirect, isPattern: true) != nil else {
            return report(
                "'redirect' must be a URL with a scheme, in which '${url.NAME}' or '${url.NAME:-DEFAULT}' are values; "
                    + "correct it",
                at: keyPath)
        }
        for (name, fallback) in template.values { check(name, fallback, of: pattern, at: keyPath) }
        if template.values.isEmpty, link.when.isEmpty, link.unless.isEmpty, pattern.values(in: redirect) != nil {
            report("the redirect leads to the link itself; correct it, or remove the link", at: keyPath)
        }
        let isKnown = template.values.allSatisfy { value in
            pattern.required.contains(value.name) && !(pattern.hasRest && pattern.inPath.last?.name == value.name)
        }
        guard isKnown, flow.links(matching: template)?.isEmpty == true else { return }
        let nearest = Spelling.suggestion(for: redirect, among: flow.links.map(\.url))
        report("no link matches the redirect '\(redirect)'; \(nearest ?? "correct it, or add a link")", at: keyPath)
    }

    /// Reports a link if an earlier link, which has no conditions or the same conditions, matches all of its URLs.
    private mutating func checkCompetition(with earlier: ArraySlice<Flow.Link>, of link: Flow.Link, at keyPath: String)
    {
        guard let pattern = link.pattern else { return }
        for other in earlier {
            let isAlwaysFirst =
                other.when.isEmpty && other.unless.isEmpty || other.when == link.when && other.unless == link.unless
            guard isAlwaysFirst, other.pattern?.covers(pattern) == true, takesAllValues(other) else { continue }
            report(
                "the earlier link '\(other.url)' matches all URLs of this link; move this link up, or remove it",
                at: "\(keyPath).url")
            return
        }
    }

    /// True if the screens and commands of a link, as the flow declares them, allow all values of its URLs.
    private func takesAllValues(_ link: Flow.Link) -> Bool {
        flow.program.declaration.uses(of: link).allSatisfy {
            link.pattern?.type(of: $0.placeholder)?.isWhollyAllowed(by: $0.field.schema) ?? true
        }
    }
}

extension Flow {
    /// The targets of the links to which a link redirects directly.
    package func targets(ofRedirect link: Link) -> [Link.Target] {
        link.redirect.flatMap { LinkTemplate($0) }.flatMap { links(matching: $0) }?.compactMap(\.to) ?? []
    }

    /// The redirects that lead to another redirect, whatever the state is, by the indices of their links. Empty for a flow
    /// with very many links.
    package var unconditionalRedirects: [Int: Int] {
        let redirects = links.indices.filter {
            links[$0].redirect != nil && links[$0].when.isEmpty && links[$0].unless.isEmpty
        }
        guard comparesRedirects else { return [:] }
        var next: [Int: Int] = [:]
        for index in redirects {
            let template = links[index].redirect.flatMap { LinkTemplate($0) }
            guard let first = template.flatMap({ links(matching: $0) })?.first else { continue }
            next[index] = redirects.first { links[$0] == first }
        }
        return next
    }

    /// False if the redirects are too many to be compared with all links.
    package var comparesRedirects: Bool { links.count { $0.redirect != nil } * links.count <= 100_000 }

    /// The links that match the URL of a redirect with some values. Nil if any link may match it.
    fileprivate func links(matching redirect: LinkTemplate) -> [Link]? {
        let anything = URLPattern.wildcard
        guard let url = redirect.filled({ _, _ in anything }).flatMap({ URLParts($0) }),
            !url.authority.contains(scalars: anything)
        else { return nil }
        return links.filter { $0.pattern?.mayMatch(url) == true }
    }
}
