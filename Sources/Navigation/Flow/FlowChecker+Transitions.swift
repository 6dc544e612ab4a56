extension FlowChecker {
    mutating func check(_ transition: Flow.Transition, at place: String) {
        if ViewReport(rawValue: transition.on) != nil {
            report(
                "'\(transition.on)' is a view's report, which the machine answers itself; remove this rule",
                at: "\(place).on")
        } else if !Self.isType(transition.on, ofKinds: ["command", "event", "error", "document"]) {
            report(
                "'\(transition.on)' is not the type of a message; write command.NAME or event.NAME",
                at: "\(place).on")
        }
        check(transition.when, at: "\(place).when")
        check(transition.unless, at: "\(place).unless")
        if transition.actions.isEmpty { report("nothing to do; name at least one action", at: "\(place).do") }
        for (index, action) in transition.actions.enumerated() {
            check(action, at: "\(place).do[\(index)]")
        }
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
            for screen in condition.screens { checkScreen(screen, at: place) }
        }
    }

    mutating func check(_ action: Flow.Action, at place: String) {
        switch action {
        case .setRoot(let destination, .tabs(let tabs)):
            check(destination, at: place)
            if tabs.isEmpty || Set(tabs).count != tabs.count {
                report("tabs need names that differ; name at least one", at: "\(place).container")
            }
        case .setRoot(let destination, _), .push(let destination), .show(let destination, _):
            check(destination, at: place)
        case .replacePath(let destinations):
            for destination in destinations { check(destination, at: place) }
        case .present(let destination, let style, let options):
            check(destination, at: place)
            check(options, of: style, at: place)
        case .dismiss(let screen?): checkScreen(screen, at: place)
        case .openURL(let url): checkTemplate(url, at: place)
        case .send(let type, let data):
            checkCommand(type, at: place)
            checkTemplates(in: data, at: "\(place).data")
        case .pop, .popToRoot, .dismiss(nil), .dismissAll: break
        }
    }

    private mutating func check(_ destination: Flow.Destination, at place: String) {
        checkScreen(destination.screen, at: "\(place).screen")
        checkTemplates(in: .object(destination.arguments), at: "\(place).arguments")
    }

    mutating func check(_ options: PresentationOptions, of style: PresentationStyle, at place: String) {
        if style != .sheet, options.detents != nil || options.dragIndicator != nil {
            report("detents and dragIndicator belong to a sheet; remove them or set style: sheet", at: place)
        }
        guard style == .alert else {
            if options.title != nil || options.message != nil || options.buttons != nil {
                report("title, message and buttons belong to an alert; remove them or set style: alert", at: place)
            }
            return
        }
        let buttons = options.buttons ?? []
        if options.title == nil { report("an alert needs a title; add one", at: place) }
        if buttons.isEmpty { report("an alert needs buttons; add one that closes it", at: place) }
        if Set(buttons.map(\.id)).count != buttons.count {
            report("buttons of one alert need ids that differ", at: "\(place).buttons")
        }
        for text in [options.title, options.message] { checkTemplate(text ?? "", at: place) }
        for type in buttons.compactMap(\.sends) { checkCommand(type, at: "\(place).buttons") }
    }
}
