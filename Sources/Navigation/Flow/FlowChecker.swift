internal import Support

/// Finds the mistakes in a flow that was read from a file or built in Swift.
package struct FlowChecker {
    package struct Problem: Equatable {
        /// The key path in the flow, such as `transitions[2].do[0].screen`.
        package var keyPath: String
        package var message: String
        package var severity: FlowFinding.Severity
        /// The kind of a warning or a note. Nil for an error.
        package var code: FlowFinding.Code?
        /// A related key path, which the message refers to. Nil if there is none.
        package var other: String?

        package init(
            keyPath: String,
            message: String,
            severity: FlowFinding.Severity = .error,
            code: FlowFinding.Code? = nil,
            other: String? = nil
        ) {
            self.keyPath = keyPath
            self.message = message
            self.severity = severity
            self.code = code
            self.other = other
        }

        /// Returns the message with a reference to the related key path.
        ///
        /// - Parameter name: Returns the text by which the message refers to a key path.
        package func message(naming name: (String) -> String) -> String {
            message + (other.map { " (see \(name($0)))" } ?? "")
        }
    }

    let flow: Flow
    /// True if the checker checks an action that a view requests. Its strings are not templates, and its tab and its
    /// column are not checked.
    let isRequest: Bool
    /// The columns that a rule or link fills. Empty for a request.
    private let columns: Set<String>
    /// The tabs that a rule or link creates. Empty for a request.
    private let tabs: Set<String>
    /// True while templates may refer to the answer of a guard.
    var allowsAnswer = false
    /// False while templates cannot refer to a message or its sender.
    var hasMessage = true
    package private(set) var problems: [Problem] = []

    package init(flow: Flow, isRequest: Bool = false) {
        self.flow = flow
        self.isRequest = isRequest
        let actions = isRequest ? [] : flow.allTransitions.flatMap(\.possibleActions)
        let links = isRequest ? [] : flow.links.flatMap { [$0.to, $0.otherwise].compactMap(\.self) }
        columns = Set(actions.compactMap { if case .show(_, let column) = $0 { column } else { nil } })
            .union(links.flatMap(\.columns.keys))
        let layouts = actions.map { action -> Flow.Layout? in
            if case .setRoot(_, container: let layout) = action { layout } else { nil }
        }
        tabs = Set((layouts + links.map(\.root?.container)).flatMap { $0?.tabs ?? [] }.map(\.name))
    }

    package mutating func check() {
        let count = flow.ruleCount
        guard count <= Flow.ruleLimit else {
            // Further checks of such a flow would take too long.
            report(
                "the flow has \(count) rules and links, and at most \(Flow.ruleLimit) are allowed; divide the app into "
                    + "several flows",
                at: "transitions[\(min(Flow.ruleLimit, flow.transitions.count - 1))]")
            return
        }
        checkScreen(flow.start, at: "start")
        for (name, declared) in (flow.screens[flow.start]?.arguments ?? [:]).sorted(by: { $0.key < $1.key })
        where declared.isRequired {
            report(
                "the start screen has no arguments; declare '\(name)?'", at: "screens.\(flow.start).arguments.\(name)")
        }
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            for type in screen.sends { checkCommand(type, at: "screens.\(screen.name).sends") }
        }
        if flow.screens[Flow.senderWord] != nil {
            report(
                "'\(Flow.senderWord)' means the screen that sent a message; give this screen another name",
                at: "screens.\(Flow.senderWord)")
        }
        for type in flow.ignores where !Self.isType(type, ofKinds: ["event", "error"]) {
            report("'\(type)' is not the type of an event or error; write event.NAME or error.NAME", at: "ignores")
        }
        for type in flow.commands.keys.sorted() {
            checkCommand(type, at: "commands.\(type)")
            if ViewReport(rawValue: type) != nil || type == Flow.requestType {
                report("Segue itself declares the fields of '\(type)'; remove it here", at: "commands.\(type)")
            }
        }
        for (index, transition) in flow.transitions.enumerated() {
            check(transition, at: "transitions[\(index)]")
            checkEndings(in: transition, isInChild: false, at: "transitions[\(index)]")
        }
        for child in flow.flows.values.sorted(by: { $0.name < $1.name }) { check(child) }
        checkLinks()
        checkLinkArguments()
        checkProperties()
    }

    /// Reports screens with the same name.
    package mutating func checkUniqueness(of screens: [Flow.Screen]) {
        var names = Set<String>()
        for screen in screens where !names.insert(screen.name).inserted {
            report("screen '\(screen.name)' is declared twice; remove one", at: "screens.\(screen.name)")
        }
    }

    mutating func report(_ message: String, at keyPath: String) {
        problems.append(Problem(keyPath: keyPath, message: message))
    }

    mutating func checkScreen(_ name: String, at keyPath: String) {
        guard flow.screens[name] == nil else { return }
        if flow.flows[name] != nil {
            return report(
                "'\(name)' is a child flow; name a screen, or begin it by push: { flow: \(name) }", at: keyPath)
        }
        report("unknown screen '\(name)'; \(Spelling.advice(for: name, among: flow.screens.keys))", at: keyPath)
    }

    mutating func checkCommand(_ type: String, at keyPath: String) {
        guard !Self.isType(type, ofKinds: ["command"]) else { return }
        report("'\(type)' is not the type of a command; write command.NAME", at: keyPath)
    }

    package static func isType(_ type: String, ofKinds kinds: [String]) -> Bool {
        let parts = type.split(scalar: ".", omittingEmptySubsequences: false)
        return parts.count >= 2 && kinds.contains(String(parts[0]))
            && parts.allSatisfy { part in
                !part.isEmpty
                    && !part.unicodeScalars.contains { "*?>".unicodeScalars.contains($0) || $0.properties.isWhitespace }
            }
    }

    mutating func check(_ transition: Flow.Transition, at keyPath: String) {
        if let time = transition.after {
            checkWait(of: transition, time, at: keyPath)
        } else {
            if transition.on.isEmpty { report("'on' names no message; add its type", at: "\(keyPath).on") }
            for type in transition.on { checkAnswered(type, at: "\(keyPath).on") }
        }
        for act in transition.on.compactMap(Flow.UserAct.init) { check(act, of: transition, at: keyPath) }
        if let ending = transition.on.first(where: { Flow.Ending(rawValue: $0) != nil }) {
            checkEndingFields(of: transition, on: ending, at: keyPath)
        }
        check(transition.fields, at: "\(keyPath).where")
        hasMessage = transition.after == nil
        defer { hasMessage = true }
        check(transition.when, at: "\(keyPath).when")
        check(transition.unless, at: "\(keyPath).unless")
        if transition.actions.isEmpty { report("'do' is empty; add at least one action", at: "\(keyPath).do") }
        allowsAnswer = transition.guard != nil
        for (index, action) in transition.actions.enumerated() {
            check(action, at: "\(keyPath).do[\(index)]")
        }
        allowsAnswer = false
        if let condition = transition.guard { check(condition, at: "\(keyPath).guard") }
    }

    /// Checks conditions on fields of a message.
    private mutating func check(_ fields: [String: Flow.Match], at keyPath: String) {
        for (field, match) in fields.sorted(by: { $0.key < $1.key }) {
            if field.split(scalar: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
                report("'\(field)' is not the path of a field; write FIELD or FIELD.FIELD", at: "\(keyPath).\(field)")
            }
            check(match, at: "\(keyPath).\(field)")
        }
    }

    /// Checks the type of a message that a rule answers.
    private mutating func checkAnswered(_ type: String, at keyPath: String) {
        if ViewReport(rawValue: type) != nil {
            report("'\(type)' is a view's report, which the machine handles itself; remove this rule", at: keyPath)
        } else if type == Flow.requestType {
            report(
                "the machine handles '\(type)' itself; remove this rule and list the actions under 'requests'",
                at: keyPath)
        } else if type == Machine.deadlinePassed {
            report("the machine handles '\(type)' itself; move the actions to 'expired' of a guard", at: keyPath)
        } else if type.unicodeScalars.contains("*") {
            report("'\(type)' has a wildcard; list the types instead: on: [event.A, event.B]", at: keyPath)
        } else if Flow.Ending(rawValue: type) == nil, Flow.UserAct(rawValue: type) == nil,
            !Self.isType(type, ofKinds: ["command", "event", "error", "document"])
        {
            report("'\(type)' is not the type of a message; write command.NAME or event.NAME", at: keyPath)
        }
    }

    mutating func check(_ conditions: [Flow.Condition], at keyPath: String) {
        for (index, (condition, keyPath)) in Flow.Condition.placed(conditions, at: keyPath).enumerated() {
            if conditions[..<index].contains(condition) {
                report("the same condition on '\(condition.scope.rawValue)' is given twice; remove one", at: keyPath)
            }
            if condition.screens.isEmpty, ![.path, .presented, .sender].contains(condition.scope) {
                report(
                    "'\(condition.scope.rawValue)' names no screen or tab; name at least one", at: keyPath
                )
            }
            for (index, screen) in condition.screens.enumerated() {
                if condition.scope == .tab {
                    checkTab(screen.screen, at: keyPath)
                } else {
                    checkScreen(screen.screen, at: "\(keyPath)[\(index)].screen")
                    for (name, match) in screen.arguments.sorted(by: { $0.key < $1.key }) {
                        let keyPath = "\(keyPath)[\(index)].arguments.\(name)"
                        check(match, at: keyPath)
                        checkTemplates(in: .array(match.values), at: keyPath)
                    }
                }
            }
        }
    }

    mutating func check(_ action: Flow.Action, at keyPath: String) {
        switch action {
        case .setRoot(let destination, container: let layout):
            check(destination, at: keyPath)
            check(layout, at: "\(keyPath).container")
        case .push(let destination, on: let stack):
            check(destination, at: keyPath)
            check(stack, at: keyPath)
        case .pushFlow(let name, arguments: let arguments, on: let stack):
            checkFlow(name, arguments, at: keyPath)
            check(stack, at: keyPath)
        case .pop(let extent, let column):
            check(extent, at: keyPath)
            check(column: column, at: keyPath)
            if extent == .sender, column != nil {
                report("the sender determines the column; remove 'column'", at: "\(keyPath).column")
            }
        case .show(let destination, column: _), .goTo(let destination): check(destination, at: keyPath)
        case .update(let destination): check(destination, isPartial: true, at: keyPath)
        case .selectTab(let tab): checkTab(tab, at: keyPath)
        case .replacePath(let destinations):
            for (index, destination) in destinations.enumerated() {
                check(destination, at: "\(keyPath)[\(index)]")
            }
        case .present(let destination, as: let style, options: let options):
            check(destination, at: keyPath)
            check(options, of: style, at: keyPath)
        case .presentFlow(let name, arguments: let arguments, as: let style, options: let options):
            checkFlow(name, arguments, at: keyPath)
            check(options, of: style, at: keyPath)
            if style.isQuestion {
                report(
                    "a child flow needs a path, and style '\(style)' has none; choose another style",
                    at: "\(keyPath).style")
            }
        case .dismiss(.screen(let screen)): checkScreen(screen, at: keyPath)
        case .openURL(let url): checkTemplate(url, at: keyPath)
        case .send(let type, let data):
            checkCommand(type, at: keyPath)
            checkTemplates(in: data, at: "\(keyPath).data")
        case .finish(let result): checkTemplates(in: .object(result), at: keyPath)
        case .ifPossible(let attempted):
            check(attempted, at: keyPath)
            if case .ifPossible = attempted { return report("'ifPossible' is doubled; remove one", at: keyPath) }
            if [.finish, .abandon, .send, .openURL].contains(attempted.name) {
                report(
                    "'\(attempted.name.rawValue)' is possible in every state; write it without 'ifPossible'",
                    at: keyPath)
            }
        case .back, .popToRoot, .dismiss(nil), .dismiss(.sender), .dismissAll, .abandon: break
        }
    }

    private mutating func check(_ match: Flow.Match, at keyPath: String) {
        if match.anyOf?.isEmpty == true {
            report(
                "the list of values is empty, so nothing matches; name a value, or write { exists: true }", at: keyPath)
        }
        if match == Flow.Match(anyOf: nil) {
            report("the field has no condition; add one, or remove the field", at: keyPath)
        }
        if let least = match.atLeast, let most = match.atMost, least > most {
            report(
                "no number is both at least \(JSONValue.number(least)) and at most \(JSONValue.number(most)); "
                    + "correct one of them",
                at: keyPath)
        }
    }

    /// - Parameter isPartial: True if the arguments are only some of those of an instance.
    mutating func check(_ destination: Flow.Destination, isPartial: Bool = false, at keyPath: String) {
        checkScreen(destination.screen, at: "\(keyPath).screen")
        checkTemplates(in: .object(destination.arguments), at: "\(keyPath).arguments")
        checkArguments(destination.arguments, of: destination.screen, isPartial: isPartial, at: keyPath)
    }

    /// - Parameter isPartial: True if arguments of the tabs' screens are left out.
    mutating func check(_ layout: Flow.Layout?, isPartial: Bool = false, at keyPath: String) {
        guard case .tabs(let tabs, _) = layout else { return }
        if tabs.isEmpty || Set(tabs.map(\.name)).count != tabs.count {
            report("'tabs' needs at least one tab, and each tab needs a different name", at: keyPath)
        }
        for (index, tab) in tabs.enumerated() {
            check(tab.destination, isPartial: isPartial, at: "\(keyPath).tabs[\(index)]")
        }
    }

    mutating func check(_ extent: Flow.Extent, at keyPath: String) {
        switch extent {
        case .count(let count):
            if count < 1 { report("'pop' removes at least one screen; write 1 or a greater number", at: keyPath) }
        case .to(let screen), .from(let screen): checkScreen(screen, at: keyPath)
        case .sender: break
        }
    }

    private mutating func check(_ stack: Flow.Stack?, at keyPath: String) {
        if case .column(let column) = stack { check(column: column, at: keyPath) }
    }

    mutating func check(column: String?, at keyPath: String) {
        guard let column, !columns.contains(column), !isRequest else { return }
        let advice = columns.isEmpty ? "add a 'show' action for it" : Spelling.advice(for: column, among: columns)
        report("no rule or link shows a screen in column '\(column)'; \(advice)", at: "\(keyPath).column")
    }

    mutating func checkTab(_ name: String, at keyPath: String) {
        guard !tabs.contains(name), !isRequest else { return }
        let advice = tabs.isEmpty ? "no root of the flow has tabs" : Spelling.advice(for: name, among: tabs)
        report("unknown tab '\(name)'; \(advice)", at: keyPath)
    }

    /// The presentation styles that a platform lacks. A platform that is not listed here has all styles. If a flow
    /// lists its own styles, this table is not used.
    private static let missingStyles: [String: Set<PresentationStyle>] = [
        "ios": [.window],
        "mac": [.fullScreen],
        "macos": [.fullScreen],
        "tvos": [.popover, .window],
        "watchos": [.popover, .window],
    ]

    mutating func check(_ options: PresentationOptions, of style: PresentationStyle, at keyPath: String) {
        checkPlatform(has: style, at: "\(keyPath).style")
        if style != .sheet, options.detents != nil || options.dragIndicator != nil {
            report("detents and dragIndicator belong to a sheet; remove them or set style: sheet", at: keyPath)
        }
        if options.interactiveDismissal != nil, ![.sheet, .popover, .window].contains(style) {
            report("interactiveDismissal belongs to a sheet, popover or window; remove it", at: keyPath)
        }
        if style.isQuestion {
            checkQuestion(options, style, at: keyPath)
        } else if options.title != nil || options.message != nil || options.buttons != nil {
            report(
                "title, message and buttons belong to an alert or dialog; remove them or set that style", at: keyPath)
        }
    }

    private mutating func checkPlatform(has style: PresentationStyle, at keyPath: String) {
        let missing = Self.missingStyles[flow.platform.lowercased()] ?? []
        let known = flow.presentations ?? PresentationStyle.allCases.filter { !missing.contains($0) }
        guard !known.contains(style) else { return }
        let names = known.map(\.rawValue).joined(separator: ", ")
        report("platform '\(flow.platform)' has no style '\(style.rawValue)'; its styles are \(names)", at: keyPath)
    }

    /// The maximum deadline of a guard, and time of a rule that waits; a longer one is an error.
    private static let longestWait: Duration = .seconds(3600)

    private mutating func check(_ time: Duration, _ what: String, at keyPath: String) {
        if !(.milliseconds(1)...Self.longestWait).contains(time) {
            report("\(what) must be at least 1ms and at most 1h; correct it", at: keyPath)
        } else if time != .milliseconds(time.milliseconds) {
            report("\(what) must be a whole number of milliseconds; round it", at: keyPath)
        }
    }

    /// Checks a rule that waits. It has no message, so it cannot refer to the sender.
    private mutating func checkWait(of rule: Flow.Transition, _ time: Duration, at keyPath: String) {
        check(time, "the time in 'after'", at: "\(keyPath).after")
        if rule.when.isEmpty, rule.unless.isEmpty {
            report("a rule with 'after' needs conditions that hold for this time; add 'when'", at: keyPath)
        }
        for (key, conditions) in [("when", rule.when), ("unless", rule.unless)]
        where conditions.contains(where: { $0.scope == .sender }) {
            report("a rule with 'after' has no sender; name another part of the state", at: "\(keyPath).\(key).sender")
        }
        for (index, action) in rule.actions.enumerated() where action.unconditional.isOnSender {
            report("a rule with 'after' has no sender; name a screen", at: "\(keyPath).do[\(index)]")
        }
    }

    mutating func check(_ condition: Flow.Guard, at keyPath: String) {
        if let ask = condition.ask {
            checkCommand(ask.type, at: "\(keyPath).ask")
            checkTemplates(in: ask.data, at: "\(keyPath).ask.data")
        }
        check(condition.accept, at: "\(keyPath).accept")
        if let reject = condition.reject {
            check(reject, at: "\(keyPath).reject")
            let accept = condition.accept
            if Set(accept.on).isSuperset(of: reject.on), accept.fields.isEmpty || accept.fields == reject.fields {
                report(
                    "'accept' matches every message that 'reject' matches; distinguish them with 'where'",
                    at: "\(keyPath).accept")
            }
        } else if !condition.rejected.isEmpty {
            report(
                "'rejected' needs 'reject'; name the rejecting answer there, or remove 'rejected'",
                at: "\(keyPath).rejected")
        }
        check(condition.deadline, "a guard's deadline", at: "\(keyPath).deadline")
        allowsAnswer = true
        for (index, action) in condition.rejected.enumerated() { check(action, at: "\(keyPath).rejected[\(index)]") }
        allowsAnswer = false
        for (index, action) in condition.expired.enumerated() { check(action, at: "\(keyPath).expired[\(index)]") }
    }

    private mutating func check(_ answer: Flow.Guard.Answer, at keyPath: String) {
        check(answer.fields, at: "\(keyPath).where")
        if answer.on.isEmpty { report("the answer names no message; add its type", at: keyPath) }
        for type in answer.on {
            if type == Machine.deadlinePassed {
                report("the machine handles '\(type)' itself; put the actions in 'expired'", at: keyPath)
            } else if !Self.isType(type, ofKinds: ["event", "error", "document"]) {
                report("'\(type)' cannot answer a guard; write event.NAME, error.NAME or document.NAME", at: keyPath)
            }
        }
    }

    mutating func check(_ child: Flow.Child) {
        let keyPath = "flows.\(child.name)"
        checkScreen(child.start, at: "\(keyPath).start")
        for (index, transition) in child.transitions.enumerated() {
            check(transition, at: "\(keyPath).transitions[\(index)]")
            checkEndings(in: transition, isInChild: true, at: "\(keyPath).transitions[\(index)]")
        }
    }

    /// Reports child flows with the same name.
    mutating func checkUniqueness(of flows: [Flow.Child]) {
        var names = Set<String>()
        for flow in flows where !names.insert(flow.name).inserted {
            report("child flow '\(flow.name)' is declared twice; remove one", at: "flows.\(flow.name)")
        }
    }

    /// Checks that `finish` and `abandon` occur only in rules of child flows, and only as the last action.
    private mutating func checkEndings(in transition: Flow.Transition, isInChild: Bool, at keyPath: String) {
        checkEndings(in: transition.actions, isInChild, at: "\(keyPath).do")
        checkEndings(in: transition.guard?.rejected ?? [], isInChild, at: "\(keyPath).guard.rejected")
        checkEndings(in: transition.guard?.expired ?? [], isInChild, at: "\(keyPath).guard.expired")
    }

    private mutating func checkEndings(in actions: [Flow.Action], _ isInChild: Bool, at keyPath: String) {
        for (index, action) in actions.enumerated() where [.finish, .abandon].contains(action.name) {
            let name = action.name.rawValue
            if !isInChild {
                report("'\(name)' ends a child flow; use it only in rules of a child flow", at: "\(keyPath)[\(index)]")
            } else if index != actions.indices.last {
                report("'\(name)' ends the child flow; make it the last action", at: "\(keyPath)[\(index)]")
            }
        }
    }

    private mutating func checkFlow(_ name: String, _ arguments: [String: JSONValue], at keyPath: String) {
        if let child = flow.flows[name] {
            checkArguments(arguments, of: child.start, at: keyPath)
        } else {
            let advice = Spelling.advice(for: name, among: flow.flows.keys)
            report("unknown child flow '\(name)'; \(advice)", at: "\(keyPath).flow")
        }
        checkTemplates(in: .object(arguments), at: "\(keyPath).arguments")
    }

    /// Checks a rule on the end of a child flow: the child flows that the rule names must exist, and the rule cannot
    /// have a guard.
    private mutating func checkEndingFields(of transition: Flow.Transition, on type: String, at keyPath: String) {
        for name in transition.fields["flow"]?.anyOf?.compactMap(\.stringValue) ?? [] where flow.flows[name] == nil {
            let advice = Spelling.advice(for: name, among: flow.flows.keys)
            report("unknown child flow '\(name)'; \(advice)", at: "\(keyPath).where.flow")
        }
        if transition.guard != nil {
            report(
                "a rule on '\(type)' cannot have a guard; move the guard to the rule that ends the child flow",
                at: keyPath)
        }
    }

    /// Finds mistakes in steps that can no longer be found after the conversion of the steps to screens and rules.
    package mutating func check(_ trees: [Flow.Step]) {
        for tree in trees.enumerated() where !tree.element.fields.isEmpty {
            report(
                "no command leads to the first step, so 'where' has nothing to match; remove it",
                at: "steps[\(tree.offset)].where")
        }
        for (keyPath, step) in Flow.steps(of: trees, at: "steps") {
            if step.next == nil, !step.steps.isEmpty {
                report(
                    "step '\(step.screen)' has 'steps' but no 'next'; name the command that leads to them in 'next'",
                    at: "\(keyPath).steps")
            } else if step.next != nil, step.steps.isEmpty {
                report(
                    "step '\(step.screen)' has 'next' but no 'steps'; add 'steps', or remove 'next'",
                    at: "\(keyPath).next")
            }
            if step.next == nil, step.guard != nil {
                report(
                    "step '\(step.screen)' has a guard but no 'next'; add 'next', or remove the guard",
                    at: "\(keyPath).guard")
            }
            for (index, following) in step.steps.enumerated() where step.guard == nil {
                guard !following.answerFields.isEmpty else { continue }
                report(
                    "step '\(step.screen)' has no guard and so no answer; add a guard, or remove the 'answer.' fields",
                    at: "\(keyPath).steps[\(index)].where")
            }
        }
    }
}
