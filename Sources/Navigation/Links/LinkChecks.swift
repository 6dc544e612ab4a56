internal import Support

extension FlowChecker {
    mutating func checkLinks() {
        for (index, link) in flow.links.enumerated() {
            let place = "links[\(index)]"
            check(link, at: place)
            checkCompetition(with: flow.links[..<index], of: link, at: place)
        }
        guard !flow.links.isEmpty else { return }
        checkNoRule(in: flow.transitions, at: "transitions")
        for (name, child) in flow.flows.sorted(by: { $0.key < $1.key }) {
            checkNoRule(in: child.transitions, at: "flows.\(name).transitions")
        }
    }

    private mutating func checkNoRule(in transitions: [Flow.Transition], at place: String) {
        for (index, rule) in transitions.enumerated() where rule.on == Machine.deepLinkReceived {
            report("the flow's 'links' handle '\(rule.on)'; remove this rule or 'links'", at: "\(place)[\(index)].on")
        }
    }

    private mutating func check(_ link: Flow.Link, at place: String) {
        checkConstants(in: link.when, at: "\(place).when")
        checkConstants(in: link.unless, at: "\(place).unless")
        if link.park < .zero || link.park > .seconds(366 * 86_400) {
            report("'park' must be at least 0s and at most 366d; correct it", at: "\(place).park")
        }
        check(link.to, at: "\(place).to")
        do {
            let pattern = try URLPattern(link.url)
            checkPlaces(of: pattern, in: link.to, at: place)
            for (index, command) in link.sends.enumerated() {
                let place = "\(place).send[\(index)]"
                checkCommand(command.type, at: place)
                check(command.data, of: command.type, among: pattern.required + pattern.optional, at: place)
            }
        } catch {
            report(error.description, at: "\(place).url")
        }
    }

    private mutating func checkConstants(in conditions: [Flow.Condition], at place: String) {
        check(conditions, at: place)
        let values = conditions.flatMap(\.screens).flatMap(\.arguments.values)
        if values.contains(where: { !LinkArgument($0).isConstant }) {
            report("a link's conditions cannot contain templates; remove '${…}'", at: place)
        }
        if conditions.contains(where: { $0.place == .sender }) {
            report("no screen sends a link; remove 'sender'", at: "\(place).sender")
        }
    }

    private mutating func check(_ target: Flow.Link.Target, at place: String) {
        if target.destinations.isEmpty, target.tab == nil {
            report("'to' is empty; add 'root', 'path' or 'present'", at: place)
        }
        if let root = target.root {
            checkScreen(root.destination.screen, at: "\(place).root.screen")
            check(root.container, of: target, at: "\(place).root.container")
        }
        if !target.columns.isEmpty, target.root?.container != .split {
            report("'columns' needs a root with 'container: split'; add it to 'root'", at: "\(place).columns")
        }
        if let tab = target.tab {
            guard case .tabs(let tabs) = target.root?.container, tabs.contains(where: { $0.name == tab }) else {
                report("tab '\(tab)' needs a root whose container has this tab; add it to 'root'", at: "\(place).tab")
                return
            }
        }
        for (name, column) in target.columns.sorted(by: { $0.key < $1.key }) {
            checkScreen(column.first.screen, at: "\(place).columns.\(name)")
            for (index, destination) in column.path.enumerated() {
                checkScreen(destination.screen, at: "\(place).columns.\(name).path[\(index)]")
            }
        }
        for (index, destination) in target.path.enumerated() {
            checkScreen(destination.screen, at: "\(place).path[\(index)]")
        }
        guard let present = target.present else { return }
        checkScreen(present.destination.screen, at: "\(place).present.screen")
        check(present.options, of: present.style, at: "\(place).present")
        let texts = [present.options.title, present.options.message].compactMap(\.self)
        if texts.contains(where: { $0.contains(scalars: "${") }) {
            report(
                "title and message of a link's presentation cannot contain templates; remove '${…}'",
                at: "\(place).present")
        }
    }

    /// Checks the container of a link's root, except for the arguments of the tab that the link selects.
    private mutating func check(_ layout: Flow.Layout?, of target: Flow.Link.Target, at place: String) {
        guard case .tabs(let tabs) = layout else { return }
        check(.tabs(tabs.map { .tab($0.name, .screen($0.destination.screen)) }), at: place)
        for (index, tab) in tabs.enumerated() where tab.name != target.tab {
            if tab.destination.arguments.values.contains(where: { !LinkArgument($0).isConstant }) {
                report(
                    "only the tab that the link selects can use values of the URL; remove '${…}'",
                    at: "\(place).tabs[\(index)]")
            }
        }
    }

    /// Checks that each placeholder of the URL is used by a screen, and that each value that a screen uses is in the
    /// URL.
    private mutating func checkPlaces(of pattern: URLPattern, in target: Flow.Link.Target, at place: String) {
        let known = pattern.required + pattern.optional
        for destination in target.destinations {
            check(destination.arguments, of: destination.screen, among: known, at: "\(place).to")
        }
        let used = target.destinations.reduce(into: Set()) { $0.formUnion($1.places) }
        for name in known where !used.contains(name) {
            report(
                "no screen uses '{\(name)}' of the link's URL; add an argument '${url.\(name)}', or remove it",
                at: "\(place).url")
        }
    }

    private mutating func check(
        _ arguments: [String: JSONValue],
        of owner: String,
        among known: [String],
        at place: String
    ) {
        for (name, argument) in arguments.sorted(by: { $0.key < $1.key }) {
            switch LinkArgument(argument) {
            case .constant: break
            case .place(let value) where known.contains(value): break
            case .place(let value):
                report("the link's URL has no '{\(value)}'; \(Spelling.advice(for: value, among: known))", at: place)
            case .unreadable:
                report("'\(name)' of '\(owner)' must be a constant or only '${url.NAME}'; correct it", at: place)
            }
        }
    }

    /// Reports a link if an earlier link, which has no conditions or the same conditions, matches all of its URLs.
    private mutating func checkCompetition(with earlier: ArraySlice<Flow.Link>, of link: Flow.Link, at place: String) {
        guard let pattern = link.pattern else { return }
        for other in earlier {
            let isAlwaysFirst =
                other.when.isEmpty && other.unless.isEmpty || other.when == link.when && other.unless == link.unless
            guard isAlwaysFirst, other.pattern?.covers(pattern) == true else { continue }
            report(
                "the earlier link '\(other.url)' matches all URLs of this link; move this link up, or remove it",
                at: "\(place).url")
            return
        }
    }
}
