internal import Device
internal import Foundation
internal import Subprocess
internal import Support
internal import SystemPackage

/// Runs a command with a URL as its last argument, or in place of `%s`.
package struct URLOpener: Sendable {
    private let words: [String]

    /// - Parameter command: A command and its arguments, separated by spaces: `curl -sL`. It is not run by a shell.
    /// - Returns: Nil if the command is empty.
    package init?(command: String) {
        words = command.split(scalar: " ").map(String.init)
        if words.isEmpty { return nil }
    }

    /// The program that opens URLs in this environment: the first command of `BROWSER` that is installed, or else
    /// xdg-open. Nil if none is installed.
    package static func preferred(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URLOpener? {
        let folders = (environment["PATH"] ?? "").split(scalar: ":").map(String.init)
        // The form that xdg-open accepts: commands separated by colons, with %s in place of the URL.
        let commands = (environment["BROWSER"] ?? "").split(scalar: ":").map(String.init) + ["xdg-open"]
        return commands.compactMap(URLOpener.init).first { $0.isInstalled(in: folders) }
    }

    private func isInstalled(in folders: [String]) -> Bool {
        let paths = words[0].unicodeScalars.contains("/") ? [words[0]] : folders.map { "\($0)/\(words[0])" }
        return paths.contains { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Opens a URL and waits until the command has ended. If the caller is cancelled, the command is killed.
    /// - Returns: The reason why the URL could not be opened. Nil if the URL was opened.
    package func open(_ url: String) async -> String? {
        await open(url, platform: Subprocess.PlatformOptions())
    }

    /// Opens a URL and waits until the command has ended. If the caller is cancelled, the command continues to run.
    /// - Returns: The reason why the URL could not be opened. Nil if the URL was opened, or if the caller is cancelled.
    package func launch(_ url: String) async -> String? {
        await launch { await open(url, platform: $0) }
    }

    /// Opens a file as ``launch(_:)`` opens a URL.
    /// - Parameter path: An absolute path.
    package func launch(file path: String) async -> String? {
        await launch { await run(path, platform: $0) }
    }

    private func launch(
        _ open: @escaping @Sendable (Subprocess.PlatformOptions) async -> String?
    ) async -> String? {
        var platform = Subprocess.PlatformOptions()
        platform.createSession = true
        let (reasons, reason) = AsyncStream.makeStream(of: String?.self)
        // The task is unstructured, because the command may run longer than the caller. It ends with the command or
        // with this process.
        Task { [platform] in
            reason.yield(await open(platform))
            reason.finish()
        }
        for await reason in reasons { return reason }
        return nil
    }

    private func open(_ url: String, platform: Subprocess.PlatformOptions) async -> String? {
        guard let url = OpenableURL(url)?.text else {
            let forms = OpenableURL.beginnings.joined(separator: ", ")
            return "The URL was not opened: it is invalid or too long, or begins with none of \(forms)."
        }
        return await run(url, platform: platform)
    }

    private func run(_ url: String, platform: Subprocess.PlatformOptions) async -> String? {
        do {
            let hasPlace = words.dropFirst().contains { $0.contains(scalars: "%s") }
            let arguments = words.dropFirst().map { $0.replacing(scalars: "%s", with: url) } + (hasPlace ? [] : [url])
            let command: Executable =
                words[0].unicodeScalars.contains("/") ? .path(FilePath(words[0])) : .name(words[0])
            let result = try await Subprocess.run(
                command, arguments: Arguments(arguments), platformOptions: platform, output: .discarded,
                error: .discarded)
            let status = result.terminationStatus
            if status.isSuccess { return nil }
            return "\(words[0]) could not open the URL: \(status); copy the URL, or name another command with --open"
        } catch {
            return "\(words[0]) cannot be run: \(error); name another command with --open"
        }
    }
}
