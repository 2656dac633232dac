/* An OpenGL client (GLX) that draws a turning triangle into a window and hashes each frame's pixels, of 60 frames that
 * come round and round. Then a picture of the window, as the X server has it. argv[1]: the file that ends it. */
#include <GL/gl.h>
#include <GL/glx.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WIDTH = 160, HEIGHT = 120, FRAMES = 60 };

static uint64_t hash(const void *bytes, size_t length) {
  uint64_t value = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) value = (value ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
  return value;
}

static uint64_t draw(int frame, Display *display, Window window) {
  static unsigned char pixels[WIDTH * HEIGHT * 4];
  glClearColor(0.1f, 0.1f, frame / (float)FRAMES, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glLoadIdentity();
  glRotatef(6.0f * frame, 0, 0, 1);
  glBegin(GL_TRIANGLES);
  glColor3f(1, 0, 0), glVertex2f(-0.8f, -0.6f);
  glColor3f(0, 1, 0), glVertex2f(0.8f, -0.6f);
  glColor3f(0, 0, 1), glVertex2f(0, 0.9f);
  glEnd();
  glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  glXSwapBuffers(display, window);
  return hash(pixels, sizeof pixels);
}

int main(int argc, char **argv) {
  int wanted[] = {GLX_RGBA, GLX_DOUBLEBUFFER, GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, None};
  Display *display = XOpenDisplay(NULL);
  if (argc != 2 || !display) return fprintf(stderr, "triangles: no display\n"), 64;
  XVisualInfo *visual = glXChooseVisual(display, DefaultScreen(display), wanted);
  if (!visual) return fprintf(stderr, "triangles: no visual\n"), 69;
  XSetWindowAttributes attributes = {
      .colormap = XCreateColormap(display, RootWindow(display, visual->screen), visual->visual, AllocNone)};
  Window window = XCreateWindow(display, RootWindow(display, visual->screen), 0, 0, WIDTH, HEIGHT, 0, visual->depth,
                                InputOutput, visual->visual, CWColormap, &attributes);
  XMapWindow(display, window);
  GLXContext context = glXCreateContext(display, visual, NULL, True);
  if (!context || !glXMakeCurrent(display, window, context)) return fprintf(stderr, "triangles: no context\n"), 69;
  fprintf(stderr, "drawn by %s\n", (const char *)glGetString(GL_RENDERER));
  puts("started");
  fflush(stdout);
  uint64_t first[FRAMES], all = 0;
  for (long n = 0; n < FRAMES || access(argv[1], F_OK); n++) {
    uint64_t frame = draw(n % FRAMES, display, window);
    if (n < FRAMES) first[n] = frame, all = all * 31 + frame;
    else if (frame != first[n % FRAMES]) return printf("frame %ld differs\n", n), 1;
    usleep(2000);
  }
  draw(7, display, window);
  glXWaitGL();
  XSync(display, False);
  XImage *picture = XGetImage(display, window, 0, 0, WIDTH, HEIGHT, AllPlanes, ZPixmap);
  if (!picture) return fprintf(stderr, "triangles: no picture\n"), 1;
  printf("result %016lx %016lx\n", (unsigned long)all,
         (unsigned long)hash(picture->data, (size_t)picture->bytes_per_line * HEIGHT));
  return 0;
}
