package import ArgumentParser
internal import Compose

package struct UpCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Starts the services of a compose file, and keeps them up.",
        discussion: """
            In the foreground, Ctrl-C stops them in order; once more, at once. In the background, a project that runs \
            already becomes what the file says now: what has changed is restarted, what is gone is removed, and all \
            else stays as it is.
            """)

    @OptionGroup var stack: StackOptions
    @OptionGroup var options: UpOptions

    @Flag(name: [.short, .customLong("detach")], help: "Leave the services to themselves once their processes run.")
    var detached = false

    @Flag(help: "Leave them to themselves once all are ready.")
    var wait = false

    @Flag(help: "Only tell what would be done.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Show what the services write while they are waited for.")
    var verbose = false

    package init() {}

    package func run() async throws {
        let file = try await stack.files.read()
        try await file.placing { try await up(file) }
    }

    private func up(_ file: ComposeFile) async throws {
        let project = try stack.project.resolve(files: stack.files.paths(), environmentFiles: stack.files.envFile)
        let request = try options.request(for: file, profiles: stack.files.profile)
        if dryRun {
            try await rehearse(request, project)
        } else if detached || wait {
            let milestone: Milestone = wait ? .ready : .launched
            try await StackControl(project: project).perform(.up(request), until: milestone) {
                try await DetachedStack(
                    project: project, stack: request.stack, selection: request.selection,
                    arguments: options.supervise.arguments, isVerbose: verbose
                ).start(until: milestone)
            }
        } else {
            try await ForegroundStack(
                stack: request.stack, project: project, selection: request.selection, options: options.supervise
            ).run()
        }
    }

    private func rehearse(_ request: UpRequest, _ project: Project) async throws {
        let control = StackControl(project: project, isRehearsal: true)
        if try await !control.perform(.up(request)) { await control.tell(try request.changesFromNothing(project)) }
    }
}
