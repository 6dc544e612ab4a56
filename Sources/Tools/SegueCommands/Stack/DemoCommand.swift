package import ArgumentParser
internal import Compose
internal import Foundation
internal import SignIn
internal import Support
internal import SystemSupport

/// Runs the installed app for a person who wants to look at it.
package struct DemoCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Run the app that is installed with segue, and print what to try.",
        discussion: """
            segue demo    runs a focus player with a simulated Spotify, until Ctrl-C

            The demo needs no files of yours, and leaves none: its folder is removed at its end. Its ports are open only \
            to this machine. It disturbs no other project, and several demos can run at once. If a demo is killed, the \
            next one removes what it has left.

            The exit status is 1 if a service of the demo fails.
            """)

    private static let prefix = "demo"

    package init() {}

    package func run() async throws {
        let files = try Files()
        let signals = ShutdownSignals.arrivals(of: ShutdownSignals.standard)
        let (interruptions, interrupt) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Signals have no other effect until the folder is removed: a terminal that is closed can send SIGHUP twice.
            group.addTask { for await _ in signals { interrupt.yield() } }
            defer { group.cancelAll() }
            let scratch = try ScratchProject.make(prefix: Self.prefix)
            do {
                try await show(scratch, files, until: interruptions)
            } catch let first {
                do {
                    try await scratch.remove()
                } catch {
                    let reason = (error as? ComposeError)?.message ?? "\(error)"
                    await Console.error.tell("cannot remove \(scratch.project.name): \(reason)")
                }
                throw first
            }
            try await scratch.remove()
        }
    }

    /// Runs the demo until it ends, it is interrupted, or nothing reads the output any more.
    private func show(_ scratch: ScratchProject, _ files: Files, until interruptions: AsyncStream<Void>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await interruptions.first { _ in true } }
            group.addTask { try await Console.output.waitForBrokenPipe() }
            group.addTask {
                try await removeAbandoned()
                try await start(scratch, files)
                try await Console.output.write(text(scratch, files))
                try await scratch.project.supervisorHasEnded()
                try Task.checkCancellation()
                // `segue down -v` removes the status, too.
                guard let status = try ProjectStatus.read(scratch.project), status.phase != .stopped else { return }
                throw CommandError(code: "supervisor-ended", "the supervisor of the demo was killed")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func removeAbandoned() async throws {
        for demo in try ScratchProject.abandoned(prefix: Self.prefix) {
            do {
                try await demo.remove()
                await Console.error.tell("removed \(demo.project.name), a demo that was killed")
            } catch let error as ComposeError {
                await Console.error.tell("cannot remove \(demo.project.name), a demo that was killed: \(error.message)")
            }
        }
    }

    private func start(_ scratch: ScratchProject, _ files: Files) async throws {
        let project = scratch.project
        // The variables of this user's environment are for other stacks.
        let file = try ComposeSources(paths: [files.stack], environment: [:]).file(project: project.name)
        try project.record(file: files.stack)
        var environment = ProcessInfo.processInfo.environment.merging(scratch.variables) { $1 }
        // The supervisor stops the services even if this process is killed.
        environment[SupervisorOptions.ownerVariable] = SupervisorOptions.ownerValue
        let stack = DetachedStack(
            project: project, stack: try file.stack.selecting(), environment: environment, stopsIfCancelled: true)
        do {
            try await file.placing { try await stack.start(until: .ready) }
        } catch var error as ComposeError
            where ["not-ready", "service-failed", "supervisor-ended"].contains(error.code)
        {
            error.recovery = "its log is removed; to keep it, run 'segue up -f \(Escape.shellWord(files.stack))'"
            throw error
        }
    }

    private func text(_ scratch: ScratchProject, _ files: Files) -> String {
        let address = PageFolder(state: scratch.project.dataDirectory).address()
        let page =
            address.map {
                """
                The page is at \($0.url); 'segue open' opens it in a browser, and signs the browser in. For a browser on \
                another machine, see 'segue open --help'.

                """
            } ?? ""
        return files.suggestions.replacing(scalars: "{environment}", with: environment(scratch))
            + "\n\(page)Ctrl-C stops the demo and removes its files. Close the other terminals then: their variables are "
            + "only for the demo.\n"
    }

    /// The command by which a shell finds the demo and the programs.
    private func environment(_ scratch: ScratchProject) -> String {
        let words = scratch.variables.sorted { $0.key < $1.key }.map { "\($0.key)=\(Escape.shellWord($0.value))" }
        let path = missingFolder.map { #"PATH=\#(Escape.shellWord($0)):"$PATH""# }
        return (["export"] + words + [path].compactMap(\.self)).joined(separator: " ")
    }

    /// The folder that `PATH` needs for the suggested commands. Nil if a shell finds this program already.
    private var missingFolder: String? {
        guard let program = InstalledFiles.program, let folder = InstalledFiles.programFolder else { return nil }
        let isProgram = { (path: String) in URL(filePath: path).resolvingSymlinksInPath().path == program }
        let found = ExecutableLookup(executableDirectory: nil).find(
            "segue", workingDirectory: FileManager.default.currentDirectoryPath,
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
        if let found, isProgram(found) { return nil }
        // For a program in PREFIX/lib/segue, PREFIX/bin has only the programs that people start.
        let commands = URL(filePath: "\(folder)/../../bin").standardized.path
        return isProgram("\(commands)/segue") ? commands : folder
    }
}

extension DemoCommand {
    /// The installed files that a demo needs.
    private struct Files {
        /// The path of the compose file.
        let stack: String
        /// The commands to try, with the placeholder `{environment}`.
        let suggestions: String

        /// - Throws: ``CommandError`` `no-demo` if a file is missing.
        init() throws {
            stack = try Self.path(of: "compose/default.yaml")
            suggestions = try String(contentsOfFile: Self.path(of: "docs/try.txt"), encoding: .utf8)
        }

        private static func path(of name: String) throws -> String {
            if let path = InstalledFiles.path(of: name) { return path }
            throw CommandError(
                code: "no-demo", "there is no \(name) in \(InstalledFiles.folders().joined(separator: " or "))",
                recovery: "install segue again, with its folder share", status: .noInput)
        }
    }
}
