extension FlowChecker {
    mutating func check(_ transition: Flow.Transition, at place: String) {
        if ViewReport(rawValue: transition.on) != nil {
            report(
                "'\(transition.on)' is a view's report, which the machine answers itself; remove this rule",
                at: "\(place).on")
        } else if transition.on == Flow.requestType {
            report(
                "'\(transition.on)' is answered by the machine itself; list the actions it may ask for under requests",
                at: "\(place).on")
        } else if Flow.Ending(rawValue: transition.on) != nil {
            checkEndingFields(of: transition, at: place)
        } else if transition.on == Machine.deadlinePassed {
            report(
                "the machine answers '\(transition.on)' itself; say in a guard's 'expired' what to do",
                at: "\(place).on")
        } else if !Self.isType(transition.on, ofKinds: ["command", "event", "error", "document"]) {
            report(
                "'\(transition.on)' is not the type of a message; write command.NAME or event.NAME",
                at: "\(place).on")
        }
        for (field, match) in transition.fields.sorted(by: { $0.key < $1.key }) {
            check(match, at: "\(place).where.\(field)")
        }
        check(transition.when, at: "\(place).when")
        check(transition.unless, at: "\(place).unless")
        if transition.actions.isEmpty { report("nothing to do; name at least one action", at: "\(place).do") }
        allowsAnswer = transition.guard != nil
        for (index, action) in transition.actions.enumerated() {
            check(action, at: "\(place).do[\(index)]")
        }
        allowsAnswer = false
        if let condition = transition.guard { check(condition, at: "\(place).guard") }
    }

    mutating func check(_ conditions: [Flow.Condition], at place: String) {
        for (index, condition) in conditions.enumerated() {
            let place = "\(place).\(condition.place.rawValue)"
            if conditions[..<index].contains(where: { $0.place == condition.place }) {
                report("'\(condition.place.rawValue)' stands twice; join the two lists of screens", at: place)
            }
            if condition.screens.isEmpty, ![.path, .presented].contains(condition.place) {
                report("no screen is named, and '\(condition.place.rawValue)' is never empty; name one", at: place)
            }
            for (index, screen) in condition.screens.enumerated() {
                if condition.place == .tab {
                    checkTab(screen.screen, at: place)
                } else {
                    check(screen, at: "\(place)[\(index)]")
                }
            }
        }
    }

    mutating func check(_ action: Flow.Action, at place: String) {
        switch action {
        case .setRoot(let destination, let layout):
            check(destination, at: place)
            check(layout, at: "\(place).container")
        case .push(let destination, let column):
            check(destination, at: place)
            check(column: column, at: place)
        case .pushFlow(let name, let arguments, let column):
            checkFlow(name, arguments, at: place)
            check(column: column, at: place)
        case .pop(let extent, let column):
            check(extent, at: place)
            check(column: column, at: place)
        case .show(let destination, _): check(destination, at: place)
        case .selectTab(let tab): checkTab(tab, at: place)
        case .replacePath(let destinations):
            for (index, destination) in destinations.enumerated() {
                check(destination, at: "\(place)[\(index)]")
            }
        case .present(let destination, let style, let options):
            check(destination, at: place)
            check(options, of: style, at: place)
        case .presentFlow(let name, let arguments, let style, let options):
            checkFlow(name, arguments, at: place)
            check(options, of: style, at: place)
            if style.isQuestion { report("a flow needs a path, and \(style) has none", at: "\(place).style") }
        case .dismiss(let screen?): checkScreen(screen, at: place)
        case .openURL(let url): checkTemplate(url, at: place)
        case .send(let type, let data):
            checkCommand(type, at: place)
            checkTemplates(in: data, at: "\(place).data")
        case .finish(let result): checkTemplates(in: .object(result), at: place)
        case .popToRoot, .dismiss(nil), .dismissAll, .abandon: break
        }
    }

    private mutating func check(_ match: Flow.Match, at place: String) {
        if match.anyOf?.isEmpty == true {
            report("a field is never one of no values; name a value, or write { exists: true }", at: place)
        }
        if match == Flow.Match(anyOf: nil) { report("nothing is asked of the field; remove it", at: place) }
        if let least = match.atLeast, let most = match.atMost, least > most {
            report("no number is at least \(JSONValue.number(least)) and at most \(JSONValue.number(most))", at: place)
        }
    }

    mutating func check(_ destination: Flow.Destination, at place: String) {
        checkScreen(destination.screen, at: "\(place).screen")
        checkTemplates(in: .object(destination.arguments), at: "\(place).arguments")
    }
}
