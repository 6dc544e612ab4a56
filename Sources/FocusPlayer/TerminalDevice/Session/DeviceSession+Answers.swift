internal import EventBus

extension DeviceSession {
    /// Takes a person's line: about what is on the screen now.
    mutating func answer(_ line: String) throws -> [Output] {
        let answer = Answer(line)
        switch answer {
        case .quit: return [.end]
        case .nothing: return [.draw, .read]
        default: break
        }
        guard let screen, let choice = screen.choice(for: answer) else {
            return [.say("There is no '\(line)' to pick here."), .read]
        }
        return [.publish(try pick(choice, on: screen).message), .read]
    }

    mutating func pick(_ choice: Choice, on screen: TerminalScreen) throws -> (pick: Script.Pick, message: Envelope) {
        let message = try envelope(choice)
        let pick = Script.Pick(choice: choice, id: message.id)
        script.note(pick, on: screen)
        return (pick, message)
    }
}
