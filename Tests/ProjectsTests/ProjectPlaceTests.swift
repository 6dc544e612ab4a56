import Foundation
import Projects
import TestSupport
import Testing

@Suite("The place of a project")
struct ProjectPlaceTests {
    private static let environment = ["XDG_RUNTIME_DIR": "/r"]

    private func inFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = scratch.url.appending(path: "My_App/The App")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "compose"), withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        try body(folder.path)
    }

    @Test(
        "A project's name gives the address of its bus; without one the folder's compose files do, or the folder",
        arguments: [
            ([:], "theapp"), (["compose.yaml": "name: mine\n"], "mine"),
            (["compose.yaml": "# It\nservices: {}\nname : \"a-1\"  # mine\r\n"], "a-1"),
            (["compose.yaml": "name: mine", "compose.override.yaml": "name: 'other'"], "other"),
            (["compose.yml": "services:\n  name: x\n"], "theapp"), (["compose/default.yaml": "name: two"], "two"),
            (["compose/default.yaml": "services: {}"], "compose"),
        ])
    func address(files: [String: String], name: String) throws {
        try inFolder(files) { folder in
            let found = try ProjectPlace.busAddress(of: nil, in: folder, environment: Self.environment)
            #expect(found == "ipc:///r/segue/\(name)/bus")
            #expect(
                try ProjectPlace.busAddress(of: "x", in: folder, environment: Self.environment)
                    == "ipc:///r/segue/x/bus")
        }
    }

    @Test("A project that cannot be told says what to write", arguments: ["${NAME:-x}", ">-\n  a", "A", "", "a b"])
    func unknown(name: String) throws {
        try inFolder(["compose.yaml": "name: \(name)\n"]) { folder in
            let error = #expect(throws: ProjectPlace.Unknown.self) {
                try ProjectPlace.busAddress(of: nil, in: folder, environment: Self.environment)
            }
            #expect(error?.description.contains("-p NAME") == true)
        }
        #expect(throws: ProjectPlace.Unknown.self) { try ProjectPlace.busAddress(of: "../x", in: "/") }
    }
}
