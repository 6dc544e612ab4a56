internal import Contracts
internal import EventBus
internal import Navigation
internal import Presentation

// How the lines of a script are taken, so that it does the same however fast or slow the services are:
//
// 1. One line after the other. A line's turn comes when what was picked before it has been answered: by a state of the
//    navigation in which no guard waits for it any more, a URL to open, playback, an error or a refusal that the pick led
//    to (the same correlation); if no rule of the flow hears it, by a document.
// 2. A line waits until what it names is on the screen.
// 3. A number counts what is on the screen. It also waits until no list is still loading, and, after a pick, until other
//    screens are in front than those which that pick was made on. To pick twice on one screen, use names.
// 4. `@screen` waits until a screen of this name can be acted on.
// 5. After the last line, and at `q`, it ends once the last pick is answered and something has been drawn.
//
// Each wait has a deadline; after it the device fails with what it waited for and what was on the screen.
extension DeviceSession {
    /// Goes on with the script as far as it can.
    mutating func advance() throws -> [Output] {
        guard mode == .scripted, let screen else { return [] }
        switch script.wait {
        case .line, .answer: return []
        case .end: return [.end]
        case .screen(let line): return try take(line, on: screen)
        }
    }

    private mutating func take(_ line: String, on screen: TerminalScreen) throws -> [Output] {
        let answer = Answer(line)
        switch answer {
        case .nothing: return read()
        case .quit: return [.end]
        case .openURL: return screen.url.map { [.say("> o (\($0.text))"), .browse($0)] + read() } ?? []
        case .screen(let name): return screen.active.contains { $0.screen == name } ? read() : []
        case .number where screen.isLoading || !script.isNew(screen): return []
        case .number, .text, .back, .dismiss, .dismissError:
            let choice: Choice
            do throws(TypedFields.Mistake) {
                guard let picked = try screen.pick(answer) else { return [] }
                choice = picked
            } catch {
                return [.fail(.unreadable(error.description.printable))]
            }
            let (pick, message) = try pick(choice, on: screen)
            return [.say("> \(line) (\(choice.label))"), .publish(message)] + wait(for: .answer(to: pick))
        }
    }

    /// Whether the message is what the script's last pick has been waiting for.
    func isAnswer(_ message: Envelope) -> Bool {
        guard mode == .scripted, case .answer(let pick) = script.wait else { return false }
        return pick.isAnswered(by: message, to: identity, banner: documents.errorBanner?.errorID)
    }

    mutating func read() -> [Output] {
        [.read] + wait(for: .line)
    }

    mutating func wait(for wait: Script.Wait) -> [Output] {
        let number = script.wait(for: wait)
        // How long its next line takes is the writer's business.
        if case .line = wait { return [] }
        return [.startDeadline(number)]
    }

    func expire(_ number: Int) -> [Output] {
        guard number == script.waitNumber else { return [] }
        let awaited =
            switch script.wait {
            case .line, .end: "nothing could be shown"
            case .screen(let line): "'\(line)' could not be picked"
            case .answer(let pick): "'\(pick.choice.label)' was sent and not answered"
            }
        return [.fail(.timeout("\(awaited) within \(timeout); \(whatIsShown)".printable))]
    }

    private var whatIsShown: String {
        guard let screen else { return "no coordinator has shown a screen of \(identity.platform)" }
        let names = screen.active.map(\.screen).joined(separator: ", ")
        let labels = screen.choices.prefix(8).map(\.label) + (screen.choices.count > 8 ? ["…"] : [])
        let shown = "on screen is \(names) with \(labels.isEmpty ? "nothing to pick" : labels.joined(separator: ", "))"
        guard case .screen(let line) = script.wait, Int(line) != nil, !script.isNew(screen) else { return shown }
        return shown + "; a number waits for another screen than the last pick's, a name does not"
    }
}
