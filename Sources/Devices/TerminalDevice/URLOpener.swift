internal import Device
internal import Foundation

/// Runs a command with a URL as its last argument.
struct URLOpener: Sendable {
    private let words: [String]

    /// - Parameter command: words with spaces between them, such as `curl -sL`; no shell reads them. nil if there are none.
    init?(command: String) {
        words = command.split(separator: " ").map(String.init)
        if words.isEmpty { return nil }
    }

    /// What opens URLs for the person who has this environment: the first command of `BROWSER` that is installed, else
    /// xdg-open. nil if neither is there.
    static func preferred(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URLOpener? {
        // As xdg-open reads it: commands with colons between them, in which %s stands for the URL.
        let commands = (environment["BROWSER"] ?? "").split(separator: ":").map(String.init) + ["xdg-open"]
        return commands.compactMap(URLOpener.init).first { $0.executable(in: environment) != nil }
    }

    /// The path of the command; nil if it is not installed.
    private func executable(in environment: [String: String]) -> String? {
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        let paths = words[0].contains("/") ? [words[0]] : folders.map { "\($0)/\(words[0])" }
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Opens a URL and waits until the command has ended. If the caller is cancelled, the command is ended.
    /// - Returns: why it could not be opened; nil if it was.
    func open(_ url: String) async -> String? {
        await run(url) { $0.terminate() }
    }

    /// The same, but a command that has been started is left running if the caller is cancelled: a browser outlives the
    /// device that started it.
    func launch(_ url: String) async -> String? {
        await run(url) { _ in }
    }

    /// - Parameter leave: called with the command that runs when the caller is cancelled.
    private func run(_ url: String, leave: (Process) -> Void) async -> String? {
        guard let url = OpenableURL(url)?.text else {
            let forms = OpenableURL.beginnings.joined(separator: ", ")
            return "That was not opened: only URLs are that begin with \(forms)."
        }
        let advice = "name another command with --open"
        guard let path = executable(in: ProcessInfo.processInfo.environment) else {
            return "\(words[0]) cannot be run, \(advice): it is not installed"
        }
        // In a process group of its own: Ctrl-C in the device's terminal is not for it.
        let process = Process()
        let hasPlace = words.dropFirst().contains { $0.contains("%s") }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = words.dropFirst().map { $0.replacing("%s", with: url) } + (hasPlace ? [] : [url])
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        process.terminationHandler = { _ in end.finish() }
        do { try process.run() } catch { return "\(words[0]) cannot be run, \(advice): \(error)" }
        // Also ends when the caller is cancelled.
        for await _ in ends {}
        if process.isRunning {
            leave(process)
            return nil
        }
        let status = process.terminationStatus
        let hasExited = process.terminationReason == .exit
        if hasExited, status == 0 { return nil }
        let outcome = hasExited ? "exited(\(status))" : "signaled(\(status))"
        return "\(words[0]) could not open that: \(outcome); copy it, or \(advice)"
    }
}
