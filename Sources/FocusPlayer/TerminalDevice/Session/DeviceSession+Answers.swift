internal import EventBus

extension DeviceSession {
    /// Takes a person's line: about what is on the screen now.
    mutating func answer(_ line: String) throws -> [Output] {
        let answer = Answer(line)
        let picked: (choice: Choice, screen: TerminalScreen)
        switch answer {
        case .quit: return [.end]
        case .nothing: return [.draw, .read]
        case .openURL: return [screen?.url.map(Output.browse) ?? .say("There is no URL to open here."), .read]
        default: break
        }
        do throws(TypedFields.Mistake) {
            guard let screen, let choice = try screen.pick(answer) else {
                return [.say("There is no '\(line)' to pick here."), .read]
            }
            picked = (choice, screen)
        } catch {
            return [.say(error.description), .read]
        }
        return [.publish(try pick(picked.choice, on: picked.screen).message), .read]
    }

    mutating func pick(_ choice: Choice, on screen: TerminalScreen) throws -> (pick: Script.Pick, message: Envelope) {
        let message = try envelope(choice)
        let pick = Script.Pick(choice: choice, id: message.id)
        script.note(pick, on: screen)
        // Closing a banner does not answer the request.
        if choice.outcome != .closedBanner { requestedURL = nil }
        return (pick, message)
    }
}
