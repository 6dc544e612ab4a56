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
        for (index, rule) in transitions.enumerated() where rule.on == Machine.deepLinkReceived {
            report("the flow's 'links' handle '\(rule.on)'; remove this rule or 'links'", at: "\(keyPath)[\(index)].on")
        }
    }

    private mutating func check(_ link: Flow.Link, at keyPath: String) {
        checkConstants(in: link.when, at: "\(keyPath).when")
        checkConstants(in: link.unless, at: "\(keyPath).unless")
        if link.park < .zero || link.park > .seconds(366 * 86_400) {
            report("'park' must be at least 0s and at most 366d; correct it", at: "\(keyPath).park")
        }
        check(link.to, at: "\(keyPath).to")
        do {
            let pattern = try URLPattern(link.url)
            checkPlaceholders(of: pattern, in: link.to, at: keyPath)
            for (index, command) in link.sends.enumerated() {
                let keyPath = "\(keyPath).send[\(index)]"
                checkCommand(command.type, at: keyPath)
                check(command.data, of: command.type, among: pattern.required + pattern.optional, at: keyPath)
            }
        } catch {
            report(error.description, at: "\(keyPath).url")
        }
    }

    private mutating func checkConstants(in conditions: [Flow.Condition], at keyPath: String) {
        check(conditions, at: keyPath)
        let values = conditions.flatMap(\.screens).flatMap(\.arguments.values)
        if values.contains(where: { !LinkArgument($0).isConstant }) {
            report("a link's conditions cannot contain templates; remove '${…}'", at: keyPath)
        }
        if conditions.contains(where: { $0.scope == .sender }) {
            report("no screen sends a link; remove 'sender'", at: "\(keyPath).sender")
        }
    }

    private mutating func check(_ target: Flow.Link.Target, at keyPath: String) {
        if target.destinations.isEmpty, target.tab == nil {
            report("'to' is empty; add 'root', 'path' or 'present'", at: keyPath)
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
        let texts = [present.options.title, present.options.message].compactMap(\.self)
        if texts.contains(where: { $0.contains(scalars: "${") }) {
            report(
                "title and message of a link's presentation cannot contain templates; remove '${…}'",
                at: "\(keyPath).present")
        }
    }

    /// Checks the container of a link's root, except for the arguments of the tab that the link selects.
    private mutating func check(_ layout: Flow.Layout?, of target: Flow.Link.Target, at keyPath: String) {
        guard case .tabs(let tabs, _) = layout else { return }
        check(.tabs(tabs.map { .tab($0.name, .screen($0.destination.screen)) }), at: keyPath)
        for (index, tab) in tabs.enumerated() where tab.name != target.tab {
            if tab.destination.arguments.values.contains(where: { !LinkArgument($0).isConstant }) {
                report(
                    "only the tab that the link selects can use values of the URL; remove '${…}'",
                    at: "\(keyPath).tabs[\(index)]")
            }
        }
    }

    /// Checks that each placeholder of the URL is used by a screen, and that each value that a screen uses is in the
    /// URL.
    private mutating func checkPlaceholders(of pattern: URLPattern, in target: Flow.Link.Target, at keyPath: String) {
        let known = pattern.required + pattern.optional
        for destination in target.destinations {
            check(destination.arguments, of: destination.screen, among: known, at: "\(keyPath).to")
        }
        let used = target.destinations.reduce(into: Set()) { $0.formUnion($1.placeholders) }
        for name in known where !used.contains(name) {
            report(
                "no screen uses '{\(name)}' of the link's URL; add an argument '${url.\(name)}', or remove it",
                at: "\(keyPath).url")
        }
    }

    private mutating func check(
        _ arguments: [String: JSONValue],
        of owner: String,
        among known: [String],
        at keyPath: String
    ) {
        for (name, argument) in arguments.sorted(by: { $0.key < $1.key }) {
            switch LinkArgument(argument) {
            case .constant: break
            case .placeholder(let value) where known.contains(value): break
            case .placeholder(let value):
                report("the link's URL has no '{\(value)}'; \(Spelling.advice(for: value, among: known))", at: keyPath)
            case .unreadable:
                report("'\(name)' of '\(owner)' must be a constant or only '${url.NAME}'; correct it", at: keyPath)
            }
        }
    }

    /// Reports a link if an earlier link, which has no conditions or the same conditions, matches all of its URLs.
    private mutating func checkCompetition(with earlier: ArraySlice<Flow.Link>, of link: Flow.Link, at keyPath: String)
    {
        guard let pattern = link.pattern else { return }
        for other in earlier {
            let isAlwaysFirst =
                other.when.isEmpty && other.unless.isEmpty || other.when == link.when && other.unless == link.unless
            guard isAlwaysFirst, other.pattern?.covers(pattern) == true else { continue }
            report(
                "the earlier link '\(other.url)' matches all URLs of this link; move this link up, or remove it",
                at: "\(keyPath).url")
            return
        }
    }
}
