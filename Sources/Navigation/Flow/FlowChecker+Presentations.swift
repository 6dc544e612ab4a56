extension FlowChecker {
    /// What a platform lacks. One that is not listed has everything: a flow that knows better says so itself.
    private static let missingStyles: [String: Set<PresentationStyle>] = [
        "ios": [.window],
        "mac": [.fullScreen],
        "macos": [.fullScreen],
        "tvos": [.popover, .window],
        "watchos": [.popover, .window],
    ]

    mutating func check(_ options: PresentationOptions, of style: PresentationStyle, at place: String) {
        checkPlatform(has: style, at: "\(place).style")
        if style != .sheet, options.detents != nil || options.dragIndicator != nil {
            report("detents and dragIndicator belong to a sheet; remove them or set style: sheet", at: place)
        }
        if options.interactiveDismissal != nil, ![.sheet, .popover, .window].contains(style) {
            report("interactiveDismissal belongs to a sheet, popover or window; remove it", at: place)
        }
        if style.isQuestion {
            checkQuestion(options, style, at: place)
        } else if options.title != nil || options.message != nil || options.buttons != nil {
            report("title, message and buttons belong to an alert or dialog; remove them or set that style", at: place)
        }
    }

    private mutating func checkPlatform(has style: PresentationStyle, at place: String) {
        let missing = Self.missingStyles[flow.platform.lowercased()] ?? []
        let known = flow.presentations ?? PresentationStyle.allCases.filter { !missing.contains($0) }
        guard !known.contains(style) else { return }
        let names = known.map(\.rawValue).joined(separator: ", ")
        report("platform '\(flow.platform)' has no \(style.rawValue); it has \(names)", at: place)
    }

    private mutating func checkQuestion(_ options: PresentationOptions, _ style: PresentationStyle, at place: String) {
        let article = style == .alert ? "an alert" : "a dialog"
        let buttons = options.buttons ?? []
        if style == .alert, options.title == nil { report("an alert needs a title; add one", at: place) }
        if buttons.isEmpty { report("\(article) needs buttons; add one that closes it", at: place) }
        if Set(buttons.map(\.id)).count != buttons.count {
            report("buttons of \(article) need ids that differ", at: "\(place).buttons")
        }
        if buttons.count(where: { $0.role == .cancel }) > 1 {
            report("\(article) has one button with role: cancel at most; change the others", at: "\(place).buttons")
        }
        for text in [options.title, options.message] { checkTemplate(text ?? "", at: place) }
        for type in buttons.compactMap(\.sends) { checkCommand(type, at: "\(place).buttons") }
    }
}
