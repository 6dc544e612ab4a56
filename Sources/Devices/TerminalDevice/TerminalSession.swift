internal import Device
internal import EventBus
internal import Navigation

/// A device session that a terminal's lines lead: messages and lines go in, what is to be done comes out.
///
/// A person's line is about what is on the screen now. The lines of a script do the same however fast or slow the services
/// are:
///
/// 1. One line after the other. A line's turn comes when what was picked before it has been answered: by a state of the
///    navigation in which no guard waits for it any more, a URL to open, an event that is told in words, an error or a
///    refusal that the pick led to (the same correlation); if no rule of the flow hears it, by a document.
/// 2. A line waits until what it names is on the screen.
/// 3. A number counts what is on the screen. It also waits until no list is still loading, and, after a pick, until other
///    screens are in front than those which that pick was made on. To pick twice on one screen, use names.
/// 4. `@screen` waits until a screen of this name can be acted on.
/// 5. After the last line, and at `q`, it ends once the last pick is answered and something has been drawn.
///
/// Each wait has a deadline; after it the device fails with what it waited for and what was on the screen.
struct TerminalSession: Sendable {
    enum Input: Sendable {
        /// The subscription is live.
        case attached
        case message(Envelope)
        case line(String)
        case endOfInput
        /// The terminal has another size.
        case resized
        /// Why a URL could not be opened.
        case notOpened(String)
        /// The time for the wait with this number is over.
        case deadline(Int)
    }

    enum Output: Sendable {
        case device(DeviceSession.Output)
        /// The person wants this URL opened.
        case browse(OpenableURL)
        /// The next line is wanted.
        case read
        /// Give this wait a deadline.
        case startDeadline(Int)
        case fail(DeviceFailure)
        /// End; what was said is still to be sent.
        case end
    }

    private var device: DeviceSession
    private let mode: Terminal.Mode
    /// How long a script's line may wait.
    private let timeout: Duration
    private var script = Script()

    init(_ device: DeviceSession, mode: Terminal.Mode, timeout: Duration) {
        self.device = device
        self.mode = mode
        self.timeout = timeout
    }

    var platform: String { device.identity.platform }

    /// What there is to show; nil until the platform's coordinator has said where it is.
    var scene: Scene? { device.scene }

    /// - Throws: ``BusError`` if a message cannot be written as JSON.
    mutating func handle(_ input: Input) throws -> [Output] {
        switch input {
        case .attached: return try device.handle(.attached).map(Output.device)
        case .message(let message): return try receive(message)
        case .line(let line):
            return try mode == .scripted ? wait(for: .scene(for: line)) + advance() : answer(line)
        case .endOfInput: return try mode == .scripted ? wait(for: .end) + advance() : [.end]
        case .resized: return [.device(.draw)]
        case .notOpened(let reason): return [.say(reason)]
        case .deadline(let number): return expire(number)
        }
    }

    private mutating func receive(_ message: Envelope) throws -> [Output] {
        var outputs = try device.handle(.message(message)).map(Output.device)
        if mode == .scripted, case .device(.answered)? = outputs.last {
            outputs.removeLast()
            return outputs + read()
        }
        return try outputs + advance()
    }

    // MARK: A person's lines

    private mutating func answer(_ line: String) throws -> [Output] {
        let answer = Answer(line)
        let scene = scene
        switch answer {
        case .quit: return [.end]
        case .nothing: return [.device(.draw), .read]
        case .openURL: return [scene?.url.map(Output.browse) ?? .say("There is no URL to open here."), .read]
        default: break
        }
        let choice: Choice
        do throws(TypedFields.Mistake) {
            guard let picked = try scene?.pick(answer) else {
                return [.say("There is no '\(line)' to pick here."), .read]
            }
            choice = picked
        } catch {
            return [.say(error.description), .read]
        }
        return try device.handle(.choice(choice)).map(Output.device) + [.read]
    }

    // MARK: A script's lines

    /// Goes on with the script as far as it can.
    private mutating func advance() throws -> [Output] {
        guard mode == .scripted, let scene else { return [] }
        switch script.wait {
        case .line, .answer: return []
        case .end: return [.end]
        case .scene(let line): return try take(line, on: scene)
        }
    }

    private mutating func take(_ line: String, on scene: Scene) throws -> [Output] {
        let answer = Answer(line)
        switch answer {
        case .nothing: return read()
        case .quit: return [.end]
        case .openURL: return scene.url.map { [.say("> o (\($0.text))"), .browse($0)] + read() } ?? []
        case .screen(let name): return scene.active.contains { $0.screen == name } ? read() : []
        case .number where scene.isLoading || !script.isNew(scene): return []
        case .number, .text, .back, .dismiss, .dismissError:
            let choice: Choice
            do throws(TypedFields.Mistake) {
                guard let picked = try scene.pick(answer) else { return [] }
                choice = picked
            } catch {
                return [.fail(.unreadable(error.description.printable))]
            }
            let outputs = try device.handle(.choice(choice)).map(Output.device)
            if answer != .dismissError { script.leave(scene) }
            return [.say("> \(line) (\(choice.label))")] + outputs + wait(for: .answer(to: choice))
        }
    }

    private mutating func read() -> [Output] {
        [.read] + wait(for: .line)
    }

    private mutating func wait(for wait: Script.Wait) -> [Output] {
        let number = script.wait(for: wait)
        // How long its next line takes is the writer's business.
        if case .line = wait { return [] }
        return [.startDeadline(number)]
    }

    private func expire(_ number: Int) -> [Output] {
        guard number == script.waitNumber else { return [] }
        let awaited =
            switch script.wait {
            case .line, .end: "nothing could be shown"
            case .scene(let line): "'\(line)' could not be picked"
            case .answer(let choice): "'\(choice.label)' was sent and not answered"
            }
        return [.fail(.timeout("\(awaited) within \(timeout); \(whatIsShown)".printable))]
    }

    private var whatIsShown: String {
        guard let scene else { return "no coordinator has shown a screen of \(platform)" }
        let names = scene.active.map(\.screen).joined(separator: ", ")
        let labels = scene.choices.prefix(8).map(\.label) + (scene.choices.count > 8 ? ["…"] : [])
        let shown = "on screen is \(names) with \(labels.isEmpty ? "nothing to pick" : labels.joined(separator: ", "))"
        guard case .scene(let line) = script.wait, Int(line) != nil, !script.isNew(scene) else { return shown }
        return shown + "; a number waits for another screen than the last pick's, a name does not"
    }
}

extension TerminalSession.Output {
    fileprivate static func say(_ text: String) -> Self { .device(.say(text)) }
}

/// How far a script has come.
private struct Script {
    /// What it waits for.
    enum Wait {
        /// Its next line.
        case line
        /// The scene that this line is about.
        case scene(for: String)
        /// The answer to what was picked.
        case answer(to: Choice)
        /// After its last line, a scene to show.
        case end
    }

    private(set) var wait = Wait.line
    /// Counts what has been waited for.
    private(set) var waitNumber = 0
    /// The screens that could be acted on when something on them was picked last.
    private var lastScreens: [String] = []

    /// - Returns: the number of the wait.
    mutating func wait(for wait: Wait) -> Int {
        self.wait = wait
        waitNumber += 1
        return waitNumber
    }

    /// Notes that something on these screens was picked.
    mutating func leave(_ scene: Scene) {
        lastScreens = scene.active.map(\.id)
    }

    /// Whether something other can be acted on than when something was picked last.
    func isNew(_ scene: Scene) -> Bool {
        scene.active.map(\.id) != lastScreens
    }
}

/// A script that cannot go on.
struct DeviceFailure: Error, Hashable, CustomStringConvertible {
    /// Stable: `device.timeout`, `device.unreadable`.
    let code: String
    /// One line: what was awaited, and what was on screen instead; or what is wrong with a line.
    let message: String

    var description: String { message }

    static func unreadable(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.unreadable", message: message)
    }

    static func timeout(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.timeout", message: message)
    }
}
