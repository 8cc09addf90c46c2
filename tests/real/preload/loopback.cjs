// Preloaded into a server that would listen on every interface: it gets any free port of the loopback alone,
// says where it listens on its first line of output, and then keeps quiet there.
const net = require("node:net");

const say = console.log;
console.log = () => {};

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => say(`${this.address().address} ${this.address().port}`));
  const told = rest.filter((one) => typeof one === "function");
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...told);
};
