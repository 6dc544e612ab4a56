package import ArgumentParser
internal import Compose

package struct OpenCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open the page of a stack in a browser, and sign the browser in.",
        discussion: """
            segue open
            segue open -p shop --open firefox
            segue open --link

            Writes an HTML file that only you can read, and opens it with $BROWSER, or else xdg-open. The file leads to \
            the page with a link that is valid once, for \(RunningPage.validity). Prints the address of the page, without \
            the secret of the link.

            If your browser is on another machine, forward the page's port, as with \
            'ssh -L PORT:127.0.0.1:PORT MACHINE', and open the link that --link prints. Anyone who has the link can use \
            the page.
            """)

    @OptionGroup var project: ProjectOptions

    @Option(
        help: ArgumentHelp(
            "The folder of the gateway's key and address. (default: the folder of the project's gateway)",
            valueName: "folder"),
        completion: .directory)
    var state: String?

    @Option(help: "A command to run with the path of the file. (default: $BROWSER, or else xdg-open)")
    var open: String?

    @Flag(help: "Print the address of the page, and open nothing.")
    var address = false

    @Flag(
        help: ArgumentHelp(
            "Print a link that signs a browser in, and open nothing. It is valid once, for \(RunningPage.validity)."
        ))
    var link = false

    package init() {}

    package func validate() throws {
        guard [address, link, open != nil].count(where: \.self) <= 1 else {
            throw ValidationError("--address, --link and --open exclude each other")
        }
    }

    package func run() async throws {
        let page = try state.map(RunningPage.init(state:)) ?? RunningPage(of: project.resolve())
        if link { return try await Console.output.writeLine(page.link()) }
        if !address { try await page.open(with: open) }
        try await Console.output.writeLine(page.url)
    }
}
