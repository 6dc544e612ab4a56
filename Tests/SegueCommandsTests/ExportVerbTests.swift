import CommandLineTestSupport
import Foundation
import Testing

@Suite("'segue export systemd'")
struct ExportVerbTests {
    private let stack = """
        name: demo
        x-ports: [web]
        services:
          broker: {command: broker, healthcheck: {test: [NOTIFY]}}
          web: {command: "sleep $SEGUE_PORT_WEB", environment: {TOKEN: hunter2}, depends_on: [broker]}
          debug: {command: sleep 1, profiles: [debug]}
        """

    @Test("'segue export systemd' writes the units of the selected services, and prints what to do next")
    func write() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack)
            let export = try await segue("export", "systemd", "--port", "web=8123", "-o", "units")
            let units = segue.directory + "/units"
            #expect(
                export.errorLines == [
                    "segue: port 'web' is 8123; choose another port with --port web=NUMBER",
                    "segue: wrote 4 files to \(units); start them with "
                        + "'systemctl --user daemon-reload && systemctl --user enable --now demo.target'",
                ])
            let names = try FileManager.default.contentsOfDirectory(atPath: units).sorted()
            #expect(names == ["demo.broker.service", "demo.target", "demo.web.env", "demo.web.service"])
            let web = try String(contentsOfFile: "\(units)/demo.web.service", encoding: .utf8)
            #expect(web.contains("\nEnvironmentFile=\(units)/demo.web.env\n"))
            #expect(web.contains("/sleep 8123\n"))
            let broker = try String(contentsOfFile: "\(units)/demo.broker.service", encoding: .utf8)
            #expect(broker.contains("/broker\n") && broker.contains("\nType=notify\n"))
            let folder = "/proc/self/not-here"
            let failed = try await segue("export", "systemd", "-o", folder)
            #expect(
                failed.status == 74 && failed.errorLines.last?.contains("cannot create the folder \(folder)") == true)
        }
    }

    @Test("'segue export systemd' prints the units without a folder, but no values of variables")
    func print() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack)
            let export = try await segue("export", "systemd", "--system", "--run-as", "ann", "web")
            #expect(export.lines.first == "# demo.target" && export.output.contains("\nUser=ann\n"))
            #expect(!export.output.contains("hunter2") && !export.output.contains("demo.debug"))
            #expect(try await segue("export", "systemd", "--run-as", "ann").status == 64)
            let taken = try await segue("export", "systemd", "-p", "network")
            #expect(taken.error.contains("systemd itself has a unit network.target"))
        }
    }
}
