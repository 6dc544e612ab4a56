internal import Support

// Alerts and dialogs.
extension FlowChecker {
    mutating func checkQuestion(_ options: PresentationOptions, _ style: PresentationStyle, at keyPath: String) {
        let article = style == .alert ? "an alert" : "a dialog"
        let buttons = options.buttons ?? []
        if style == .alert, options.title == nil { report("an alert needs a title; add one", at: keyPath) }
        if buttons.isEmpty { report("\(article) needs buttons; add one that closes it", at: keyPath) }
        let ids = buttons.map(\.id)
        if let index = ids.indices.first(where: { ids[..<$0].contains(ids[$0]) }) {
            report(
                "the buttons of \(article) need different ids; change the duplicates",
                at: "\(keyPath).buttons[\(index)].id")
        }
        if let index = buttons.indices.filter({ buttons[$0].role == .cancel }).dropFirst().first {
            report(
                "\(article) can have only one button with role: cancel; change the others",
                at: "\(keyPath).buttons[\(index)].role")
        }
        for text in [options.title, options.message] { checkTemplate(text ?? "", at: keyPath) }
        for (index, button) in buttons.enumerated() { check(button, at: "\(keyPath).buttons[\(index)]") }
    }

    private mutating func check(_ button: AlertButton, at keyPath: String) {
        checkTemplate(button.title, at: "\(keyPath).title")
        if let type = button.sends { checkCommand(type, at: "\(keyPath).sends") }
        if let data = button.data {
            if button.sends == nil {
                report("button '\(button.id)' has data and sends no command; add 'sends'", at: keyPath)
            }
            checkTemplates(in: .object(data), at: "\(keyPath).sends.data")
        }
        for (index, action) in button.actions.enumerated() {
            let keyPath = "\(keyPath).do[\(index)]"
            if [.finish, .abandon].contains(action.name) {
                report(
                    "a button cannot take '\(action.name.rawValue)'; let it send a command, and take it in the rule on the "
                        + "command",
                    at: keyPath)
            }
            check(action, at: keyPath)
        }
    }
}
