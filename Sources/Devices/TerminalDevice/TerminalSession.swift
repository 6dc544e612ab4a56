internal import Device
internal import EventBus
internal import Navigation
internal import Support

/// A device session that is controlled by lines of text. The inputs are messages and lines; the outputs are actions for
/// a terminal.
///
/// A person's line is applied to the current screen. The lines of a script follow these rules:
///
/// 1. A line is handled when the choice before it has been answered, usually by a new navigation state with the
///    correlation id of the choice.
/// 2. A line waits until its choice, or for `o` a URL, is on the screen.
/// 3. A number is the number of a choice on the screen. A number also waits until no screen is loading and, after a
///    choice other than the dismissal of an error, until the active screens differ from the active screens at that
///    choice. For a second choice on the same screen, use a name.
/// 4. `@screen` waits until a screen with this name is active.
/// 5. After the last line, the session ends when the last choice has been answered and there is a scene; if the choice has
///    failed, when the banner with the error has been drawn.
///
/// Each of these waits has a deadline. When the deadline has passed, the device fails and reports the awaited choice
/// and the current screen; if only the banner is missing, because no error notifier runs, it ends. The next line of the
/// script may take any time.
struct TerminalSession: Sendable {
    enum Input: Sendable {
        /// The subscription is live.
        case attached
        case message(Envelope)
        /// The answer to the query of this id, or the error for which there is none.
        case answer(Result<Envelope, any Error>, to: String)
        case line(String)
        /// A line that is not UTF-8.
        case unreadableLine
        case endOfInput
        /// The size of the terminal has changed.
        case resized
        /// A position on the screen has reached its next second.
        case second
        /// A URL could not be opened, for this reason.
        case notOpened(String)
        /// A line of the log.
        case logged(String)
        /// The deadline of the wait with this number has passed.
        case deadline(Int)
    }

    enum Output: Sendable {
        case device(DeviceSession.Output)
        /// Open the URL because a line is `o`.
        case browse(OpenableURL)
        /// Draw the positions on the screen as they are now.
        case update
        /// Read the next line.
        case read
        /// Start the deadline of the wait with this number.
        case startDeadline(Int)
        case fail(DeviceFailure)
        /// End the device.
        case end
    }

    private var device: DeviceSession
    private let mode: Terminal.Mode
    /// The maximum time that a line of a script waits. If a wait takes longer, the device fails.
    let timeout: Duration
    private var script = Script()

    init(_ device: DeviceSession, mode: Terminal.Mode, timeout: Duration) {
        self.device = device
        self.mode = mode
        self.timeout = timeout
    }

    var platform: String { device.identity.platform }

    /// The scene to draw. Nil if the platform's coordinator has not published a state, or has withdrawn it.
    var scene: Scene? { device.scene }

    /// Changes the state by an input.
    /// - Returns: The outputs for the terminal, to be carried out in order.
    /// - Throws: ``BusError`` if a message cannot be encoded as JSON.
    mutating func handle(_ input: Input) throws -> [Output] {
        switch input {
        case .attached: return try device.handle(.attached).map(Output.device)
        case .message(let message): return try receive(.message(message))
        case .answer(let answer, let id): return try receive(.answer(answer, to: id))
        case .line(let line):
            return try mode == .scripted ? wait(for: .scene(for: line)) + advance() : answer(line)
        case .unreadableLine:
            let complaint = "The line is not UTF-8; type it in UTF-8."
            return mode == .scripted ? [.fail(.unreadable(complaint))] : [.say(complaint), .read]
        case .endOfInput: return try mode == .scripted ? wait(for: .end) + advance() : [.end]
        case .resized: return [.device(.draw)]
        case .second: return [.update]
        case .notOpened(let text), .logged(let text): return [.say(text)]
        case .deadline(let number): return expire(number)
        }
    }

    private mutating func receive(_ input: DeviceSession.Input) throws -> [Output] {
        var outputs = try device.handle(input).map(Output.device)
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
                let screen = answer == .back ? scene?.screenWithoutBack : nil
                return [.say(screen.map { "\($0) has no way back." } ?? "There is no '\(line)' to pick here."), .read]
            }
            choice = picked
        } catch {
            return [.say(error.description), .read]
        }
        return try device.handle(.choice(choice)).map(Output.device) + [.read]
    }

    // MARK: A script's lines

    /// Continues the script as far as possible.
    private mutating func advance() throws -> [Output] {
        guard mode == .scripted, let scene else { return [] }
        switch script.wait {
        case .line, .answer: return []
        case .end: return device.awaitsBanner ? [] : [.end]
        case .scene(let line): return try handle(line, on: scene)
        }
    }

    private mutating func handle(_ line: String, on scene: Scene) throws -> [Output] {
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
            if case .device(.refused(let reason))? = outputs.first { return [.fail(.unreadable(reason.printable))] }
            if answer != .dismissError { script.leave(scene) }
            return [.say("> \(line) (\(choice.label))")] + outputs + wait(for: .answer(to: choice))
        }
    }

    private mutating func read() -> [Output] {
        [.read] + wait(for: .line)
    }

    private mutating func wait(for wait: Script.Wait) -> [Output] {
        let number = script.wait(for: wait)
        // The next line of the script may take any time, so this wait has no deadline.
        if case .line = wait { return [] }
        return [.startDeadline(number)]
    }

    private func expire(_ number: Int) -> [Output] {
        guard number == script.waitNumber else { return [] }
        // No error notifier runs.
        if case .end = script.wait, scene != nil { return [.end] }
        let awaited =
            switch script.wait {
            case .line, .end: "nothing could be shown"
            case .scene(let line): "'\(line)' could not be picked"
            case .answer(let choice): "'\(choice.label)' was sent and not answered"
            }
        return [.fail(.timeout("\(awaited) within \(timeout)\(whoIsMissing); \(whatIsShown)".printable))]
    }

    private var whoIsMissing: String {
        guard case .answer(let choice) = script.wait, let command = choice.commandType, !device.isReceived(command)
        else { return "" }
        return "; no running process says that it receives \(command)"
    }

    private var whatIsShown: String {
        guard let scene else { return "no coordinator has shown a screen of \(platform)" }
        let names = scene.active.map(\.screen).joined(separator: ", ")
        let labels = scene.choices.prefix(8).map(\.label) + (scene.choices.count > 8 ? ["…"] : [])
        let shown = "on screen is \(names) with \(labels.isEmpty ? "nothing to pick" : labels.joined(separator: ", "))"
        guard case .scene(let line) = script.wait else { return shown }
        if Answer(line) == .back, let screen = scene.screenWithoutBack { return shown + "; \(screen) has no way back" }
        guard Int(line) != nil, !script.isNew(scene) else { return shown }
        return shown + "; after a choice, a number waits for another screen: use a name for the same screen"
    }
}

extension Scene {
    /// The name of the screen in front from which the flow forbids to go back. Nil if there is none.
    fileprivate var screenWithoutBack: String? {
        active.last { snapshot.withoutBack.contains($0.id) }?.screen
    }
}

extension TerminalSession.Output {
    fileprivate static func say(_ text: String) -> Self { .device(.say(text)) }
}

/// The state of a script.
private struct Script {
    enum Wait {
        /// Waits for the next line of the script.
        case line
        /// Waits for a scene on which this line can be applied.
        case scene(for: String)
        /// Waits for the answer to a choice.
        case answer(to: Choice)
        /// Waits for a scene after the last line; then the session ends.
        case end
    }

    private(set) var wait = Wait.line
    /// The number of the current wait. A deadline with another number is ignored.
    private(set) var waitNumber = 0
    /// The ids of the active screen instances at the last choice.
    private var lastScreens: [String] = []

    /// Starts a wait.
    /// - Returns: The number of the wait.
    mutating func wait(for wait: Wait) -> Int {
        self.wait = wait
        waitNumber += 1
        return waitNumber
    }

    /// Records that a choice was made on the active screens of the scene.
    mutating func leave(_ scene: Scene) {
        lastScreens = scene.active.map(\.id)
    }

    /// True if other screen instances are active than at the last choice.
    func isNew(_ scene: Scene) -> Bool {
        scene.active.map(\.id) != lastScreens
    }
}

/// The error of a script that cannot continue.
struct DeviceFailure: Error, Hashable, CustomStringConvertible {
    /// A stable code: `device.timeout` or `device.unreadable`.
    let code: String
    /// One line with the awaited choice and the current screen, or with the error in a line of the script.
    let message: String

    var description: String { message }

    static func unreadable(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.unreadable", message: message)
    }

    static func timeout(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.timeout", message: message)
    }
}
