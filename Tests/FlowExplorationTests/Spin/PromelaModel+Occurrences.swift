import Navigation
import Support

// What can happen in a state.
extension PromelaModel {
    static let wentBack = "user.wentBack"
    static let dismissed = "user.dismissed"

    /// The types that rules answer.
    var types: [String] { Set(flow.transitions.flatMap(\.on)).sorted() }

    /// The choices of the process.
    func occurrences() throws -> [String] {
        try types.flatMap(messages) + presses() + returns() + [
            step(
                "SWIPED(kind[FRONT])", ViewReport.presentationDismissed.rawValue,
                "sentBy(base[FRONT]); dismissFrom(FRONT); \(handle(Self.dismissed))"
            )
        ]
    }

    private func step(_ guard: String, _ cause: String, _ body: String) -> String {
        """
            :: d_step { \(`guard`) ->
                c_code { cause = "\(cause)"; };
                begin();
                \(body)
                end()
            }
        """
    }

    private func handle(_ type: String) -> String { types.firstIndex(of: type).map { "handle\($0)();" } ?? "skip;" }

    private func messages(_ type: String) throws -> [String] {
        if type.begins(with: "user.") { return [] }
        let rules = flow.transitions.filter { $0.on.contains(type) }
        guard rules.allSatisfy(\.fields.isEmpty) else { throw Unsupported(description: "fields of '\(type)'") }
        if type.begins(with: "command.") { return try commands(type, rules) }
        guard !rules.contains(where: \.isAboutSender) else { throw Unsupported(description: "senders of '\(type)'") }
        return [step("true", type, "sentBy(0); \(handle(type))")]
    }

    /// The user sends a command from the front screen. A screen that a rule names as the sender may have sent it before it
    /// was covered. If a rule names no sender, the command also comes from elsewhere.
    private func commands(_ type: String, _ rules: [Flow.Transition]) throws -> [String] {
        let senders = try flow.screens.values.filter { $0.sends.contains(type) }.map { try number($0.name) }.sorted()
        if senders.isEmpty { return [] }
        let isInFront = senders.map { "TOP == \($0)" }.joined(separator: " || ")
        var all = [step("(\(isInFront))", type, "sentByFront(); \(handle(type))")]
        let conditions = rules.flatMap { $0.when + $0.unless }.filter { $0.scope == .sender }
        let named = Set(try conditions.flatMap(\.screens).map { try number($0.screen) }).intersection(senders).sorted()
        if !named.isEmpty { all.append(covered(type, named)) }
        if conditions.contains(where: \.screens.isEmpty) {
            all.append(step("true", type, "sentBy(0); \(handle(type))"))
        }
        return all
    }

    /// Any open instance of some screens sends a command. States within `atomic` are not stored.
    private func covered(_ type: String, _ screens: [Int]) -> String {
        let positions = (0..<layerCount).flatMap { layer in (0...capacity).map { (layer, $0) } }
        let choices = positions.map { layer, place in
            let isMeant = screens.map { "SCREEN(\(layer), \(place)) == \($0)" }.joined(separator: " || ")
            return "        :: layers > \(layer) && length[\(layer)] >= \(place) && (\(isMeant)) -> "
                + "senderLayer = \(layer); senderPlace = \(place)"
        }
        return """
                :: atomic { /* \(type) of a screen that a rule names */
                    if
            \(choices.joined(separator: "\n"))
                    fi;
                    d_step {
                        c_code { cause = "\(type)"; };
                        begin();
                        sender = SCREEN(senderLayer, senderPlace);
                        \(handle(type))
                        end()
                    }
                }
            """
    }

    /// The user presses a button: the alert is dismissed, the actions are taken, and the command is sent.
    private func presses() throws -> [String] {
        try kinds.flatMap { kind in
            try (kind.options.buttons ?? []).map { button in
                guard button.data == nil else { throw Unsupported(description: "data of buttons") }
                return step(
                    "kind[FRONT] == \(try number(kind))", ViewReport.alertAnswered.rawValue,
                    """
                    sentBy(base[FRONT]);
                            dismissFrom(FRONT);
                            keep();
                            ok = 1;
                    \(try steps(button.actions).joined(separator: "\n"))
                            if :: ok -> skip :: else -> undo() fi;
                            \(button.sends.map(handle) ?? "skip;")
                    """)
            }
        }
    }

    /// The user goes back from the front screen to any screen beneath it.
    private func returns() -> [String] {
        (0..<capacity).map { index in
            step(
                "length[FRONT] > \(index)", ViewReport.backCompleted.rawValue,
                """
                check(\(index));
                        if
                        :: ok ->
                            sentBy(PUSHED(FRONT, \(index)));
                            shorten(FRONT, \(index));
                            \(handle(Self.wentBack))
                        :: else -> skip
                        fi;
                """)
        }
    }
}

extension Flow.Transition {
    /// True if the rule reads which screen has sent the message.
    fileprivate var isAboutSender: Bool {
        (when + unless).contains { $0.scope == .sender }
            || actions.contains { action in
                switch action.unconditional {
                case .pop(.sender, column: _), .dismiss(.sender), .push(_, on: .sender): true
                default: false
                }
            }
    }
}
