// A conversation of a TypeScript client with our server, told as one line of JSON.
//   node talk.mjs old|new URL            over HTTP, with the token of the environment
//   node talk.mjs old|new -- COMMAND …   over stdio
const [era, ...target] = process.argv.slice(2);
const info = { name: `typescript-${era}`, version: "1.0.0" };

async function parts() {
  if (era === "old") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return { client: new Client(info), StdioClientTransport, StreamableHTTPClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return { client: new Client(info, { versionNegotiation: { mode: "auto" } }), StdioClientTransport, StreamableHTTPClientTransport };
}

const { client, StdioClientTransport, StreamableHTTPClientTransport } = await parts();
const transport = target[0] === "--"
  ? new StdioClientTransport({ command: target[1], args: target.slice(2), env: process.env, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(target[0]), { requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } });
await client.connect(transport);

const call = (name, args, options) =>
  era === "old" ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
const said = (result) => result.content.map((part) => part.text).join("\n");
const progress = [];
const calls = ["one", "two", "three"].map((word) => ({ tool: "remember", arguments: { content: `${era} ${word}` }, quiet: true }));

const told = {
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  remembered: said(await call("remember", { content: `The ${era} era deploys on Thursdays.` })),
  recalled: said(await call("recall", { q: `when does the ${era} era deploy?` })),
  wrong: (await call("get_memory", { id: "nonsense" })).isError,
  batch: said(await call("batch", { calls }, { onprogress: (note) => progress.push(note.progress) })),
  resource: (await client.readResource({ uri: "memory://recent" })).contents[0].text,
  prompt: (await client.getPrompt({ name: "recall-for-task", arguments: { task: "deploy" } })).messages[0].content.text,
  progress,
};
await client.close();
console.log(JSON.stringify(told));
process.exit(0);
