import Foundation
import Testing

/// Programs that read the formats that Segue writes.
enum FormatReaders {
    private static let build = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build")
    private static let python = build.appending(path: "venv/bin/python")

    /// True if the Python environment is there. `make test` creates it.
    static var areInstalled: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

    /// Reads documents of a format. Each function of the script reads one document.
    ///
    /// - Returns: The texts that the reader found in the documents. Nil if the reader is not installed.
    static func read(_ format: String, _ documents: [String]) throws -> [[String]]? {
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", script, format, build.path]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // The script reads all of its input before it writes.
        input.fileHandleForWriting.write(try JSONEncoder().encode(documents))
        try input.fileHandleForWriting.close()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "the reader of '\(format)' has failed; its error is above")
        return try JSONDecoder().decode([[String]]?.self, from: answer)
    }

    private static let script = #"""
        import csv, html, io, json, os, re, shutil, socket, subprocess, sys, tempfile
        from html.parser import HTMLParser

        build = sys.argv[2]

        def run(*command, text=""):
            return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()

        def bash(line):
            return run("bash", "-c", "printf '%s\\0' " + line).split("\0")[:-1]

        def zsh(line):
            return run("zsh", "-fc", "printf '%s\\0' " + line).split("\0")[:-1] if shutil.which("zsh") else None

        def environment(file):
            with tempfile.NamedTemporaryFile("w", newline="") as copy:
                copy.write(file)
                copy.flush()
                return run("bash", "-c", 'set -a; . "$0"; env -0', copy.name).split("V=", 1)[1].split("\0")[:1]

        def page(text):
            class Reader(HTMLParser):
                found = []
                def handle_starttag(self, name, attributes): self.found += [name] + [value or "" for _, value in attributes]
                def handle_data(self, data): self.found.append(data)
            reader = Reader()
            reader.found = []
            # A browser turns CR and CRLF into LF before it reads the page; html.parser does not.
            reader.feed(text.replace("\r\n", "\n").replace("\r", "\n"))
            reader.close()
            return reader.found

        def table(text):
            rows = list(csv.reader(io.StringIO(text, newline="")))
            assert len(rows) == 1, rows
            return rows[0]

        def metric(text):
            promtool = build + "/promtool"
            if not os.access(promtool, os.X_OK): return None
            run(promtool, "check", "metrics", text=text)
            value = re.search(r'\{name="((?:[^"\\\n]|\\.)*)"\} 1\n\Z', text).group(1)
            return [re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], value)]

        def drawing(text):
            if not shutil.which("dot"): return None
            label = json.loads(run("dot", "-Tjson", text=text))["objects"][0]["_ldraw_"]
            return [part["text"] for part in label if part["op"] == "T"]

        def mermaid(text):
            assert text[0] == text[-1] == '"' and '"' not in text[1:-1] and "\n" not in text, text
            lines = text[1:-1].split("<br>")
            assert not any(set(line) & set("<>`&") for line in lines), text
            return [html.unescape(re.sub(r"#(\w+);", lambda m: "&#%s;" % m[1] if m[1].isdigit() else "&%s;" % m[1], line))
                    for line in lines]

        def yaml(text):
            from ruamel.yaml import YAML
            return [YAML(typ="safe", pure=True).load(text)["key"]]

        # A document is a JSON object: the strings of users' names in the configuration, and the names with which to log in.
        def nats(document):
            document = json.loads(document)
            server = build + "/nats-server"
            if not os.access(server, os.X_OK): return None
            with tempfile.TemporaryDirectory() as folder:
                file = folder + "/nats.conf"
                users = "\n".join("{ user: %s, password: x }" % string for string in document["strings"])
                with open(file, "w", newline="") as copy:
                    copy.write("authorization { users: [\n%s\n] }\n" % users)
                arguments = ["-a", "127.0.0.1", "-p", "-1"]
                process = subprocess.Popen([server, "-c", file, *arguments], stderr=subprocess.PIPE)
                try:
                    log = b""
                    while b"Server is ready" not in log:
                        line = process.stderr.readline()
                        assert line, log.decode()
                        log += line
                    port = int(re.search(rb"client connections on 127.0.0.1:(\d+)", log)[1])
                    return [user for user in document["names"] if knows(port, user)]
                finally:
                    process.kill()
                    process.communicate()

        def knows(port, user):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
                login = json.dumps({"user": user, "pass": "x", "verbose": False})
                link.sendall(("CONNECT %s\r\nPING\r\n" % login).encode())
                answer = b""
                while b"PONG" not in answer and b"-ERR" not in answer:
                    part = link.recv(4096)
                    if not part: break
                    answer += part
                return b"PONG" in answer

        documents = json.load(sys.stdin)
        reader = globals()[sys.argv[1]]
        found = [reader(document) for document in documents]
        print(json.dumps(None if None in found else found))
        """#
}
